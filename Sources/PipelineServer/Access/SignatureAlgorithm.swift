import Digests

/// How a text is signed with a key: the code, and its spelling in a path.
public enum SignatureAlgorithm: Sendable {
    /// HMAC-SHA256 in base64url without padding, 43 characters.
    case sha256
    /// HMAC-SHA1 in base64url with padding, 28 characters: thumbor's signatures. It is for paths that programs sign
    /// already. The collisions of SHA-1 don't weaken it; choose `sha256` for paths of your own.
    case sha1
}

extension SignatureAlgorithm {
    /// Returns the signature of a message.
    func signature(of message: [UInt8], key: [UInt8]) -> String { spelling(code(message, key)) }

    /// Whether a code is the message's. The comparison takes equally long for every wrong one.
    func isCode(_ code: [UInt8], of message: [UInt8], key: [UInt8]) -> Bool {
        AuthenticationCode.areEqual(code, self.code(message, key))
    }

    private func code(_ message: [UInt8], _ key: [UInt8]) -> [UInt8] {
        switch self {
        case .sha256: AuthenticationCode.sha256(message, key: key)
        case .sha1: AuthenticationCode.sha1(message, key: key)
        }
    }

    /// Returns the one spelling of a code.
    func spelling(_ code: [UInt8]) -> String {
        switch self {
        case .sha256: code.base64URL
        case .sha1: code.base64URL + String(repeating: "=", count: (3 - code.count % 3) % 3)
        }
    }
}
