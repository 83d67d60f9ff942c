import Essentials

/// The keys that paths are signed with: HMAC (RFC 2104) in base64url, by one of the ``SignatureAlgorithm``s.
///
/// Each path is checked against every key, so a key is rotated in three steps: the new one is added, the programs that sign
/// switch to it, and the old one is removed.
public struct SigningKeys: Sendable {
    /// A key.
    public struct Key: Sendable {
        /// The bytes that sign.
        public let secret: [UInt8]
        /// The bytes that imgproxy's dialect puts before the path; none by default.
        public let salt: [UInt8]

        /// Makes a key.
        /// - Throws: ``ServerConfigurationError`` for a secret of less than 16 bytes, which can be guessed.
        public init(secret: [UInt8], salt: [UInt8] = []) throws(ServerConfigurationError) {
            guard secret.count >= 16 else { throw ServerConfigurationError("A key has at least 16 bytes.") }
            self.init(any: secret, salt: salt)
        }

        /// A key of any length, as other servers have them.
        init(any secret: [UInt8], salt: [UInt8]) { (self.secret, self.salt) = (secret, salt) }
    }

    /// The keys, the one that signs first.
    public let keys: [Key]
    /// Texts that count as the signature of any path, for a time in which a program doesn't sign yet; none by default.
    public var trustedSignatures: Set<String> = []

    /// Makes keys.
    /// - Throws: ``ServerConfigurationError`` without a key.
    public init(_ keys: [Key]) throws(ServerConfigurationError) {
        guard !keys.isEmpty else { throw ServerConfigurationError("There is no key.") }
        self.keys = keys
    }

    /// Reads a file of keys: one a line, as `SECRET` or `SECRET:SALT`, both in hexadecimal. `trusted:TEXT` is one of the
    /// ``trustedSignatures``. Empty lines and those that begin with `#` are skipped.
    /// - Throws: ``ServerConfigurationError`` with the line that is malformed, without its text, or without a key.
    public init(file text: String) throws(ServerConfigurationError) {
        var keys: [Key] = []
        var trusted: Set<String> = []
        for (index, line) in text.split(
            omittingEmptySubsequences: false, whereSeparator: \.isNewline
        ).enumerated() {
            guard let first = line.first(where: { !$0.isWhitespace }), first != "#" else { continue }
            let words = line.filter { !$0.isWhitespace }.split(separator: ":", omittingEmptySubsequences: false)
            if words.count == 2, words[0] == "trusted", !words[1].isEmpty {
                trusted.insert(String(words[1]))
                continue
            }
            guard words.count <= 2, let secret = [UInt8](hex: words[0]), secret.count >= 16,
                let salt = [UInt8](hex: words.count == 2 ? words[1] : "")
            else {
                throw ServerConfigurationError(
                    "Line \(index + 1) of the file of keys is not SECRET or SECRET:SALT in hexadecimal, of 16 bytes or more."
                )
            }
            keys.append(Key(any: secret, salt: salt))
        }
        try self.init(keys)
        trustedSignatures = trusted
    }

    /// Signs a text with the first key.
    /// - Parameters:
    ///   - text: What is signed.
    ///   - isSalted: Whether the key's salt is put before it.
    ///   - algorithm: The kind of signature; by default HMAC-SHA256.
    public func signature(
        of text: some StringProtocol, isSalted: Bool = false, algorithm: SignatureAlgorithm = .sha256
    ) -> String {
        keys.first.map { algorithm.signature(of: Self.message(text, $0, isSalted), key: $0.secret) } ?? ""
    }

    /// Whether a signature was made with one of the keys. The comparison takes equally long for every wrong one. Each
    /// signature has one spelling, so that a signed path has one, and caches in front keep it once.
    public func isValid(
        _ signature: some StringProtocol, of text: some StringProtocol, isSalted: Bool = false,
        algorithm: SignatureAlgorithm = .sha256
    ) -> Bool {
        if trustedSignatures.contains(String(signature)) { return true }
        guard let given = [UInt8](base64URL: signature), algorithm.spelling(given) == signature else { return false }
        return keys.contains { algorithm.isCode(given, of: Self.message(text, $0, isSalted), key: $0.secret) }
    }

    private static func message(_ text: some StringProtocol, _ key: Key, _ isSalted: Bool) -> [UInt8] {
        (isSalted ? key.salt : []) + Array(text.utf8)
    }
}
