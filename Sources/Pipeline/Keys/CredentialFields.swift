package import HTTPTypes

/// The request header fields whose values tell one user from another.
///
/// Requests with different values never share a cached response, whatever the origin's `Vary` says, and these fields
/// are never sent along on a redirect to another origin. Add the fields that your own origins read:
///
/// ```swift
/// let fields = CredentialFields.standard.adding("X-Session", "X-Tenant")
/// ```
///
/// Give them to the cache, `HTTPCache(folder: folder, users: .several(fields))`, and in a list of your own to
/// `ResolveIdentifier(credentials: fields)`. Policies use the fields of their cache.
///
/// Names are compared without case. Values are digested, never stored.
public struct CredentialFields: Sendable, Hashable {
    /// The names, in lower case.
    package let names: Set<String>

    /// Makes a list of names.
    public init(_ names: some Sequence<String>) { self.names = Set(names.map { $0.lowercased() }) }

    /// `Authorization`, `Cookie`, `Proxy-Authorization`, `Host`, and the usual names of fields for API keys and tokens.
    public static let standard = CredentialFields(
        [
            "authorization", "cookie", "proxy-authorization", "host", "api-key", "apikey", "x-api-key", "x-apikey",
            "x-api-token", "x-auth", "x-auth-key", "x-auth-token", "x-access-token", "x-access-key", "x-token",
            "x-user-token", "x-session-token", "x-session-id", "x-amz-security-token", "x-goog-api-key",
            "x-goog-iap-jwt-assertion", "cf-access-jwt-assertion", "cf-access-client-id", "cf-access-client-secret",
            "ocp-apim-subscription-key", "private-token", "x-gitlab-token", "x-vault-token",
        ])

    /// `Authorization` alone, the field that RFC 9111 section 3.5 covers. For a cache that has one user.
    package static let authorization = CredentialFields(["authorization"])

    /// Returns the list with more names.
    public func adding(_ more: String...) -> CredentialFields { CredentialFields(names.union(more)) }

    /// Returns whether a field is in the list.
    package func contains(_ name: HTTPField.Name) -> Bool { names.contains(name.canonicalName) }
}
