public import Pipeline

extension HTTPCache {
    /// The users whose requests a cache answers. A cache of one user and a cache of several users may share a folder:
    /// neither finds responses that the other has stored.
    public struct Users: Sendable, Hashable {
        /// The header fields that are part of every key.
        package let credentials: CredentialFields
        /// Whether there is one user, so that RFC 9111 alone says which requests a response answers.
        let isOne: Bool

        /// One user. `Authorization` is part of the key (RFC 9111 section 3.5); otherwise `Vary` decides.
        public static let one = Users(credentials: .authorization, isOne: true)

        /// Everyone alike, for a cache that keeps the rules of a shared one: RFC 9111 section 3.5 says which responses to
        /// requests with `Authorization` answer others.
        package static let everyone = Users(credentials: CredentialFields([String]()), isOne: true)

        /// Several users, distinguished by `CredentialFields.standard`, by partition, and for `private` responses by
        /// all other fields that may identify the user.
        public static let several = several(.standard)

        /// Several users, distinguished by these fields instead of the standard ones.
        public static func several(_ credentials: CredentialFields) -> Users {
            Users(credentials: credentials, isOne: false)
        }
    }
}
