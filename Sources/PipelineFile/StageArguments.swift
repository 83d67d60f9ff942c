public import Pipeline
public import Stages

/// The values that a file or a command line gave a stage, checked against its parameters.
public struct StageArguments: Sendable {
    enum Value: Sendable, Hashable {
        case integer(Int)
        case number(Double)
        case text(String)
        case flag(Bool)
        case colour(Colour)
        case length(Crop.Length)
        case aspect(PixelSize)
    }

    private let values: [String: Value]
    /// The stages in the braces of a composite; empty for others.
    public let body: Chain

    init(_ values: [String: Value], body: Chain) {
        self.values = values
        self.body = body
    }

    /// A whole number; `nil` if none was given.
    public func integer(_ name: String) -> Int? {
        if case .integer(let value) = values[name] { value } else { nil }
    }

    /// A number; `nil` if none was given.
    public func number(_ name: String) -> Double? {
        if case .number(let value) = values[name] { value } else { nil }
    }

    /// Pixels or a percentage; `nil` if none were given.
    public func length(_ name: String) -> Crop.Length? {
        if case .length(let value) = values[name] { value } else { nil }
    }

    /// An aspect; `nil` if none was given.
    public func aspect(_ name: String) -> PixelSize? {
        if case .aspect(let value) = values[name] { value } else { nil }
    }

    /// A time; `nil` if none was given.
    public func duration(_ name: String) -> Duration? { number(name).map { .seconds($0) } }

    /// A text, or the chosen word; `nil` if none was given.
    public func text(_ name: String) -> String? {
        if case .text(let value) = values[name] { value } else { nil }
    }

    /// Whether a flag was set to true.
    public func flag(_ name: String) -> Bool { values[name] == .flag(true) }

    /// A colour; `nil` if none was given.
    public func colour(_ name: String) -> Colour? {
        if case .colour(let value) = values[name] { value } else { nil }
    }

    /// A chosen word as a case of an enumeration with the words as raw values; `nil` if none was given.
    public func choice<Choice: RawRepresentable>(_ name: String) -> Choice? where Choice.RawValue == String {
        text(name).flatMap { Choice(rawValue: $0) }
    }
}

extension StageParameter.Kind {
    /// The value that a text stands for; `nil` if it isn't of this kind.
    func value(of text: String) -> StageArguments.Value? {
        switch self {
        case .integer(let range): Int(text).flatMap { range.contains($0) ? .integer($0) : nil }
        case .number(let range), .seconds(let range): Double(text).flatMap { range.contains($0) ? .number($0) : nil }
        case .length(let range): Crop.Length(text: text, in: range).map { .length($0) }
        case .aspect: PixelSize(aspect: text).map { .aspect($0) }
        case .choice(let words): words.first { NearestName.folded($0) == NearestName.folded(text) }.map { .text($0) }
        case .flag: ["true": .flag(true), "false": .flag(false)][text]
        case .colour: Colour(text: text).map { .colour($0) }
        case .text: .text(text)
        }
    }
}
