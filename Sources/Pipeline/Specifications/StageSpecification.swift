/// States a stage once: its name, its documentation, its parameters, and how it is made.
///
/// Files and command lines can name the stages of a catalogue, which checks their values and describes them:
///
/// ```swift
/// StageSpecification(
///     "roundCorners", "Makes the corners round and transparent.",
///     .required("radius", .number(0...1000), "The radius in pixels.", example: "24")
/// ) { radius in RoundCorners(radius: radius) }
///
/// StageSpecification(
///     composite: "retry", "Runs its stages again after a temporary failure.",
///     .optional("attempts", .integer(1...100), "How often the stages run at most.", default: 3)
/// ) { body, attempts in Retry(attempts: attempts, body) }
/// ```
public struct StageSpecification: Sendable {
    /// The name; case, hyphens and underscores do not matter where it is written.
    package let name: String
    /// Whether the stage wraps others.
    package private(set) var isComposite = true
    package let summary: String
    package let example: String?
    package let parameters: [ParameterDescription]
    /// Makes the stage of its body and of acceptable values, by their parameters' names.
    package let make: @Sendable (_ body: Chain, _ values: [String: String]) throws -> any Stage

    /// Describes a stage.
    /// - Parameters:
    ///   - name: The name, such as `refuseHost`.
    ///   - summary: What the stage does, in a sentence for the reference.
    ///   - example: Values for the reference, as they are written on one line, such as `800:600:fit=cover`; by default
    ///     those that the stage needs.
    ///   - parameters: The parameters, in the order in which values without a name are taken.
    ///   - make: Makes the stage of the parameters' values. Its errors are shown with their location in the file.
    public init<each Value>(
        _ name: String, _ summary: String, example: String? = nil, _ parameters: repeat StageParameter<each Value>,
        make: @escaping @Sendable (repeat each Value) throws -> any Stage
    ) {
        self.init(composite: name, summary, example: example, repeat each parameters) {
            (_: () -> Chain, values: repeat each Value) in
            try make(repeat each values)
        }
        isComposite = false
    }

    /// Describes a stage that wraps others, which `make` gets as its first argument. The example may also be these stages
    /// in YAML, such as `[decode]`.
    public init<each Value>(
        composite name: String, _ summary: String, example: String? = nil,
        _ parameters: repeat StageParameter<each Value>,
        make: @escaping @Sendable (_ body: () -> Chain, repeat each Value) throws -> any Stage
    ) {
        self.name = name
        self.summary = summary
        self.example = example
        var descriptions: [ParameterDescription] = []
        for parameter in repeat each parameters { descriptions.append(parameter.description) }
        self.parameters = descriptions
        self.make = { body, values in try make({ body }, repeat (each parameters).value(in: values, of: name)) }
    }
}
