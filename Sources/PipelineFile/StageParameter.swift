/// Describes a parameter of a stage, as a file or a command line names it.
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
    /// Whether it has to be given.
    public let isRequired: Bool

    let summary: String
    let standard: String?
    let example: String

    /// Describes a parameter; it may be left out unless `isRequired`.
    /// - Parameters:
    ///   - name: Its name.
    ///   - kind: What its value has to be.
    ///   - summary: What it does, in a sentence for the reference.
    ///   - isRequired: Whether it has to be given; `false` by default.
    ///   - standard: The default value, as one would write it; `nil` if there is none.
    ///   - example: A value for the reference; by default one that fits the kind.
    public init(
        _ name: String, _ kind: Kind, _ summary: String = "", isRequired: Bool = false, standard: String? = nil,
        example: String? = nil
    ) {
        self.name = name
        self.kind = kind
        self.summary = summary
        self.isRequired = isRequired
        self.standard = standard
        self.example = example ?? kind.example(besides: standard)
    }
}

extension StageParameter.Kind {
    fileprivate func example(besides standard: String?) -> String {
        switch self {
        case .integer(let range), .length(let range): "\(range.lowerBound)"
        case .aspect: "16/9"
        case .number(let range), .seconds(let range): Self.short(range.upperBound)
        case .choice(let words): words.first { $0 != standard } ?? ""
        case .flag: "true"
        case .colour: "#ff8000"
        case .text: "text"
        }
    }

    /// The words by which a value without a name is recognized.
    var words: [String] {
        if case .choice(let words) = self { words } else { [] }
    }

    var isFlag: Bool {
        if case .flag = self { true } else { false }
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
