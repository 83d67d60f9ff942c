import CCrypto

/// The keyed form of SHA-1 (FIPS 180-4), by OpenSSL. There is no digest: SHA-1 has known collisions. They don't help to
/// forge a keyed code, so it can still check signatures of programs that know nothing else.
package enum SHA1 {
    /// The 20 bytes of a message's authentication code (RFC 2104).
    package static func code(_ message: some Collection<UInt8>, key: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: 20)
        let bytes = Array(message)
        _ = HMAC(EVP_sha1(), key, Int32(clamping: key.count), bytes, bytes.count, &code, nil)
        return code
    }

    /// Whether a code is the message's, in a time that doesn't depend on where they differ.
    package static func isCode(_ code: [UInt8], of message: some Collection<UInt8>, key: [UInt8]) -> Bool {
        let own = self.code(message, key: key)
        return code.count == own.count && CRYPTO_memcmp(code, own, own.count) == 0
    }
}
