import Crypto
import FoundationEssentials

/// The keys that paths are signed with: HMAC-SHA256 (RFC 2104), in base64url.
///
/// Each path is checked against every key, so a key is rotated in three steps: the new one is added, the programs that sign
/// switch to it, and the old one is removed.
struct Signatures: Sendable {
    /// A key, and the bytes that imgproxy's dialect puts before the path.
    struct Key: Sendable {
        let secret: [UInt8]
        var salt: [UInt8] = []
    }

    /// The keys, the one that signs first.
    var keys: [Key] = []

    /// Reads a file of keys: one a line, as `SECRET` or `SECRET:SALT`, both in hexadecimal. Empty lines and those that
    /// begin with `#` are skipped.
    /// - Throws: ``SettingsError`` with the line that is malformed, without its text.
    init(file text: String) throws(SettingsError) {
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            guard let first = line.first(where: { !$0.isWhitespace }), first != "#" else { continue }
            let words = line.filter { !$0.isWhitespace }.split(separator: ":", omittingEmptySubsequences: false)
            guard words.count <= 2, let secret = [UInt8](hex: words[0]), secret.count >= 16,
                let salt = [UInt8](hex: words.count == 2 ? words[1] : "")
            else {
                throw SettingsError(
                    "Line \(index + 1) of the file of keys is not SECRET or SECRET:SALT in hexadecimal, of 16 bytes or more."
                )
            }
            keys.append(Key(secret: secret, salt: salt))
        }
    }

    init(keys: [Key] = []) { self.keys = keys }

    /// Signs a text with the first key.
    func signature(of text: some StringProtocol, salted: Bool = false) -> String? {
        keys.first.map { Array(Self.code(of: text, $0, salted: salted)).base64URL }
    }

    /// Whether a signature was made with one of the keys. The comparison takes equally long for every wrong one. Each
    /// signature has one spelling, so that a signed path has one, and caches in front keep it once.
    func isValid(_ signature: some StringProtocol, of text: some StringProtocol, salted: Bool = false) -> Bool {
        guard let given = [UInt8](base64URL: signature), given.base64URL == signature else { return false }
        return keys.contains { key in
            HMAC<SHA256>.isValidAuthenticationCode(
                given, authenticating: (salted ? key.salt : []) + Array(text.utf8),
                using: SymmetricKey(data: key.secret))
        }
    }

    private static func code(
        of text: some StringProtocol, _ key: Key, salted: Bool
    ) -> HMAC<SHA256>.MAC {
        HMAC<SHA256>.authenticationCode(
            for: (salted ? key.salt : []) + Array(text.utf8), using: SymmetricKey(data: key.secret))
    }
}
