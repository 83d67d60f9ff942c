import CCrypto

/// The codes of messages that only a holder of the key can make (HMAC, RFC 2104), by OpenSSL.
package enum AuthenticationCode {
    /// The 32 bytes of a code by SHA-256.
    package static func sha256(_ message: some Collection<UInt8>, key: [UInt8]) -> [UInt8] {
        code(message, key, EVP_sha256(), count: 32)
    }

    /// The 20 bytes of a code by SHA-1. Its known collisions don't help to forge a code, so it can still check signatures
    /// of programs that know nothing else.
    package static func sha1(_ message: some Collection<UInt8>, key: [UInt8]) -> [UInt8] {
        code(message, key, EVP_sha1(), count: 20)
    }

    /// Whether two codes are equal, in a time that doesn't depend on where they differ.
    package static func areEqual(_ code: [UInt8], _ other: [UInt8]) -> Bool {
        code.count == other.count && CRYPTO_memcmp(code, other, other.count) == 0
    }

    private static func code(
        _ message: some Collection<UInt8>, _ key: [UInt8], _ function: OpaquePointer?, count: Int
    ) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: count)
        let bytes = Array(message)
        _ = HMAC(function, key, Int32(clamping: key.count), bytes, bytes.count, &code, nil)
        return code
    }
}
