public import Essentials
import Pipeline

/// The keys that sign requests to an S3-compatible store. Its description has neither the secret nor the token.
public struct S3Credentials: Sendable, Hashable {
    /// The access key's identifier.
    package var accessKey: String
    /// The secret key.
    package var secretKey: String
    /// The token of temporary credentials; `nil` for lasting ones.
    package var sessionToken: String?
    /// When temporary credentials stop being valid; `nil` for lasting ones.
    package var expires: Date?

    /// Wraps keys.
    public init(accessKey: String, secretKey: String, sessionToken: String? = nil, expires: Date? = nil) {
        self.accessKey = accessKey
        self.secretKey = secretKey
        self.sessionToken = sessionToken
        self.expires = expires
    }
}

extension S3Credentials: CustomStringConvertible, CustomReflectable {
    /// The access key's identifier alone.
    public var description: String { "S3Credentials(\(printable(accessKey)))" }

    /// The description alone, so that `dump` shows no secret either.
    public var customMirror: Mirror { Mirror(self, children: ["accessKey": accessKey]) }
}
