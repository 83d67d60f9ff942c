import CCrypto

/// AES in the mode CBC with the padding of PKCS #7 (NIST SP 800-38A; RFC 5652 section 6.3), by OpenSSL.
package enum AES {
    /// The bytes of a key: 16, 24 or 32.
    package static let keyLengths: Set<Int> = [16, 24, 32]

    /// Decrypts a message that begins with its initialization vector of 16 bytes; `nil` if it isn't one, or for a key of
    /// another length.
    package static func decrypted(_ message: [UInt8], key: [UInt8]) -> [UInt8]? {
        let ciphers = [16: EVP_aes_128_cbc, 24: EVP_aes_192_cbc, 32: EVP_aes_256_cbc]
        guard let cipher = ciphers[key.count], message.count > 16, message.count % 16 == 0,
            let context = EVP_CIPHER_CTX_new()
        else { return nil }
        defer { EVP_CIPHER_CTX_free(context) }
        let (vector, text) = (Array(message[..<16]), Array(message[16...]))
        var plain = [UInt8](repeating: 0, count: text.count + 16)
        var (count, rest) = (Int32(0), Int32(0))
        guard EVP_DecryptInit_ex(context, cipher(), nil, key, vector) == 1,
            EVP_DecryptUpdate(context, &plain, &count, text, Int32(clamping: text.count)) == 1
        else { return nil }
        let isPadded = plain.withUnsafeMutableBufferPointer { plain in
            plain.baseAddress.map { EVP_DecryptFinal_ex(context, $0 + Int(count), &rest) == 1 } ?? false
        }
        return isPadded ? Array(plain.prefix(Int(count + rest))) : nil
    }
}
