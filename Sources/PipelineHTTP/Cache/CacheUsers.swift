public import Pipeline

extension HTTPCache {
    /// Whose requests a cache answers. Caches of one user and caches of several users may share a folder: neither finds
    /// what the other has stored.
    public struct Users: Sendable, Hashable {
        /// The header fields that are part of every key.
        public let credentials: CredentialFields
        /// Whether there is one user, so that RFC 9111 alone says which requests a response answers.
        let isOne: Bool

        /// One user. `Authorization` is part of the key (RFC 9111 section 3.5); otherwise `Vary` decides.
        public static let one = Users(credentials: .authorization, isOne: true)

        /// Several users, told apart by `CredentialFields.standard`, by partition, and for `private` responses by
        /// all other fields that may say who the user is.
        public static let several = several(.standard)

        /// Several users, told apart by these fields among others.
        public static func several(_ credentials: CredentialFields) -> Users {
            Users(credentials: credentials, isOne: false)
        }
    }
}
