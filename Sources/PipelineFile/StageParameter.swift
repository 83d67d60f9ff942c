/// One parameter of a stage, as a file or a command line names it.
public struct StageParameter: Sendable {
    /// What its value has to be.
    public enum Kind: Sendable {
        /// A whole number in a range.
        case integer(ClosedRange<Int>)
        /// A number in a range.
        case number(ClosedRange<Double>)
        /// A whole number of pixels in a range, or a percentage such as `12.5%`.
        case length(ClosedRange<Int>)
        /// Width and height in any unit, such as `16:9` or `16/9`.
        case aspect
        /// A time in seconds, such as `0.5`.
        case seconds(ClosedRange<Double>)
        /// One of these words.
        case choice([String])
        /// `true` or `false`.
        case flag
        /// `#rgb`, `#rrggbb`, `#rrggbbaa`, `white`, `black` or `clear`.
        case colour
        /// Any text, such as a path.
        case text
    }

    /// Its name.
    public let name: String
    /// What its value has to be.
    public let kind: Kind
    /// Whether the stage can't do without it.
    public let isRequired: Bool

    /// Describes a parameter; it may be left out unless `isRequired`.
    public init(_ name: String, _ kind: Kind, isRequired: Bool = false) {
        self.name = name
        self.kind = kind
        self.isRequired = isRequired
    }
}

extension StageParameter.Kind: CustomStringConvertible {
    /// What a value has to be, in words: `a whole number from 1 to 100`.
    public var description: String {
        switch self {
        case .integer(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .number(let range): "a number from \(Self.short(range.lowerBound)) to \(Self.short(range.upperBound))"
        case .length(let range): "pixels from \(range.lowerBound) to \(range.upperBound), or a percentage such as 50%"
        case .aspect: "an aspect such as 16:9 or 16/9"
        case .seconds(let range): "seconds from \(Self.short(range.lowerBound)) to \(Self.short(range.upperBound))"
        case .choice(let words): words.joined(separator: ", ")
        case .flag: "true or false"
        case .colour: "a colour such as #ff8000, white, black or clear"
        case .text: "a text"
        }
    }

    private static func short(_ number: Double) -> String {
        number == number.rounded() && abs(number) < 1e15 ? "\(Int(number))" : "\(number)"
    }
}
