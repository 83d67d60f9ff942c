import CCrypto

/// SHA-256, by OpenSSL.
package enum SHA256 {
    /// The 32 bytes of a digest (FIPS 180-4).
    package static func digest(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        _ = Array(bytes).withUnsafeBytes { EVP_Digest($0.baseAddress, $0.count, &digest, nil, EVP_sha256(), nil) }
        return digest
    }

    /// Bytes in hexadecimal digits.
    package static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
