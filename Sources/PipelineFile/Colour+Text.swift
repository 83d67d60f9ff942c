public import Stages

extension Colour {
    /// Reads `#rgb`, `#rrggbb`, `#rrggbbaa`, `white`, `black` or `clear`; `nil` for anything else.
    public init?(text: String) {
        switch text.lowercased() {
        case "white": self = .white
        case "black": self = .black
        case "clear", "transparent": self = .clear
        case let text:
            guard text.first == "#" else { return nil }
            let digits = text.dropFirst().compactMap(\.hexDigitValue)
            guard digits.count == text.count - 1 else { return nil }
            let bytes: [UInt8]
            switch digits.count {
            case 3: bytes = digits.map { UInt8($0 * 17) }
            case 6, 8: bytes = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
            default: return nil
            }
            self.init(red: bytes[0], green: bytes[1], blue: bytes[2], alpha: bytes.count == 4 ? bytes[3] : 255)
        }
    }
}
