/// A parameter of a stage: its name, the ``Kind`` of its value, its documentation and its default.
///
/// ```swift
/// .required("radius", .number(0...100), "The radius in pixels.", example: "24")
/// .optional("opacity", .number(0...1), "From 0, invisible, to 1, opaque.", default: 1)
/// .optional("effort", .integer(0...9), "How hard the encoder tries to be small.")          // nil if it is left out
/// ```
///
/// The summary is a sentence for the reference, and the example a value for it; by default one of the kind.
public struct StageParameter<Value: Sendable>: Sendable {
    let description: ParameterDescription
    /// The value of a text, or of none; `nil` if it is required.
    private let read: @Sendable (String?) -> Value?

    /// A parameter that must be given.
    public static func required(
        _ name: String, _ kind: Kind, _ summary: String = "", example: String? = nil
    ) -> Self {
        Self(description: kind.parameter(name, summary, isRequired: true, nil, example)) { $0.flatMap(kind.read) }
    }

    /// A parameter with a default.
    public static func optional(
        _ name: String, _ kind: Kind, _ summary: String = "", default standard: Value, example: String? = nil
    ) -> Self {
        Self(description: kind.parameter(name, summary, kind.text(standard), example)) {
            $0.flatMap(kind.read) ?? standard
        }
    }

    /// A parameter without a default. `meaning` is the value that `nil` stands for, for the reference.
    public static func optional<Wrapped>(
        _ name: String, _ kind: StageParameter<Wrapped>.Kind, _ summary: String = "", meaning: Wrapped? = nil,
        example: String? = nil
    ) -> Self where Value == Wrapped? {
        Self(description: kind.parameter(name, summary, meaning.map(kind.text), example)) {
            .some($0.flatMap(kind.read))
        }
    }

    /// - Parameter values: Acceptable values, by their parameters' names.
    func value(in values: [String: String], of stage: String) throws(StageMistake) -> Value {
        if let value = read(values[description.name]) { return value }
        throw StageMistake("\(stage) needs \(description.name): \(description.kind).")
    }
}

/// What the reference and the reader of a list know of a parameter, whatever the type of its value.
package struct ParameterDescription: Sendable {
    package let name: String
    package let summary: String
    /// What its value has to be, in words: `a whole number from 1 to 100`.
    package let kind: String
    /// The words by which a value without a name is recognized.
    package let words: [String]
    package let isFlag: Bool
    package let isRequired: Bool
    /// The default value, as one would write it.
    package let standard: String?
    package let example: String
    package let accepts: @Sendable (String) -> Bool
}

extension StageParameter.Kind {
    fileprivate func parameter(
        _ name: String, _ summary: String, isRequired: Bool = false, _ standard: String?, _ example: String?
    ) -> ParameterDescription {
        ParameterDescription(
            name: name, summary: summary, kind: description, words: words, isFlag: Value.self == Bool.self,
            isRequired: isRequired, standard: standard,
            example: example ?? words.first { $0 != standard } ?? self.example, accepts: { read($0) != nil })
    }
}
