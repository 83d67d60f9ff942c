import CCrypto

/// SHA-256 and its keyed form, by OpenSSL.
package enum SHA256 {
    /// The 32 bytes of a digest (FIPS 180-4).
    package static func digest(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        _ = Array(bytes).withUnsafeBytes { EVP_Digest($0.baseAddress, $0.count, &digest, nil, EVP_sha256(), nil) }
        return digest
    }

    /// The 32 bytes of a message's authentication code (RFC 2104).
    package static func code(_ message: some Collection<UInt8>, key: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: 32)
        let bytes = Array(message)
        _ = HMAC(EVP_sha256(), key, Int32(clamping: key.count), bytes, bytes.count, &code, nil)
        return code
    }

    /// Whether a code is the message's, in a time that doesn't depend on where they differ.
    package static func isCode(_ code: [UInt8], of message: some Collection<UInt8>, key: [UInt8]) -> Bool {
        let own = self.code(message, key: key)
        return code.count == own.count && CRYPTO_memcmp(code, own, own.count) == 0
    }

    /// Bytes in hexadecimal digits.
    package static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
