public import Pipeline

/// A colour in sRGB, with straight alpha.
public struct Color: Sendable, Hashable {
    /// The channels, from 0 to 255.
    public var red, green, blue: UInt8
    /// The opacity, from 0, transparent, to 255, opaque.
    public var alpha: UInt8

    /// Makes a colour.
    /// - Parameters:
    ///   - red: Red, from 0 to 255.
    ///   - green: Green, from 0 to 255.
    ///   - blue: Blue, from 0 to 255.
    ///   - alpha: Opacity, from 0, transparent, to 255, opaque, the default.
    public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    /// White.
    public static let white = Color(red: 255, green: 255, blue: 255)
    /// Black.
    public static let black = Color(red: 0, green: 0, blue: 0)
    /// Transparent black.
    public static let clear = Color(red: 0, green: 0, blue: 0, alpha: 0)
}

extension Color: CustomStringConvertible {
    /// The colour as hexadecimal text, such as `#ff8000`, or `#ff800080` if it isn't opaque.
    public var description: String {
        let channels = [red, green, blue] + (alpha == 255 ? [] : [alpha])
        return "#"
            + channels.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

extension Color {
    var isGray: Bool { red == green && green == blue }

    /// Returns the bytes of a pixel of this colour. The layout has to be able to hold it.
    func pixel(in layout: PixelLayout) -> [UInt8] {
        let samples = [red, green, blue, alpha].prefix(layout.channelCount)
        // The same byte twice is the same share of white.
        return layout.isDeep ? samples.flatMap { [$0, $0] } : Array(samples)
    }
}

extension Color {
    /// Reads `#rgb`, `#rrggbb`, `#rrggbbaa`, `white`, `black` or `clear`; `nil` for anything else.
    package init?(text: String) {
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
            case 6, 8:
                bytes = stride(from: 0, to: digits.count, by: 2).map { (place: Int) -> UInt8 in
                    UInt8(digits[place] * 16 + digits[place + 1])
                }
            default: return nil
            }
            self.init(red: bytes[0], green: bytes[1], blue: bytes[2], alpha: bytes.count == 4 ? bytes[3] : 255)
        }
    }
}

extension StageParameter.Kind where Value == Color {
    /// `#rgb`, `#rrggbb`, `#rrggbbaa`, `white`, `black` or `clear`.
    public static var color: Self {
        Self(
            "a colour such as #ff8000, white, black or clear", example: "#ff8000",
            text: { [.white: "white", .black: "black", .clear: "transparent"][$0] ?? "\($0)" },
            read: Color.init(text:))
    }
}
