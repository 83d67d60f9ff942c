import Essentials

extension [UInt8] {
    /// Reads base64 with the alphabet for URLs, with or without padding (RFC 4648 section 5).
    init?(base64URL text: some StringProtocol) {
        let text = String(text.prefix { $0 != "=" }.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
        guard let data = Data(base64Encoded: text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)) else {
            return nil
        }
        self = Array(data)
    }

    /// Base64 with the alphabet for URLs, without padding.
    var base64URL: String {
        String(
            Data(self).base64EncodedString().compactMap { character -> Character? in
                switch character {
                case "+": "-"
                case "/": "_"
                case "=": nil
                default: character
                }
            })
    }

    /// Reads hexadecimal digits.
    init?(hex text: some StringProtocol) {
        let digits = text.compactMap(\.hexDigitValue)
        guard digits.count == text.count, digits.count % 2 == 0 else { return nil }
        self = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
    }
}
