public import Pipeline

/// Describes how a stage is written in a file or on a command line, and makes it from its arguments.
///
/// ```swift
/// StageSpecification("refuseHost", [StageParameter("host", .text, isRequired: true)]) { arguments in
///     RefuseHost(host: arguments.text("host") ?? "")
/// }
/// ```
public struct StageSpecification: Sendable {
    /// The name; case, hyphens and underscores do not matter where it is written.
    public let name: String
    /// The parameters; values without a name are taken in this order.
    public let parameters: [StageParameter]
    /// Whether the stage wraps others.
    public let isComposite: Bool
    let summary: String
    let example: String?
    let make: @Sendable (StageArguments) throws -> any Stage

    /// Describes a stage.
    /// - Parameters:
    ///   - name: The name, such as `refuseHost`.
    ///   - parameters: The parameters, in the order in which values without a name are taken.
    ///   - isComposite: Whether the stage wraps others, which are then the arguments' `body`.
    ///   - summary: What the stage does, in a sentence for the reference.
    ///   - example: Values for the reference, as ``OperationList`` writes them, such as `800:600:fit=cover`; by default
    ///     those that the stage needs. For a composite also its stages in YAML, such as `[decode]`.
    ///   - make: Makes the stage from checked arguments. Its errors are shown with their location in the file.
    public init(
        _ name: String, _ parameters: [StageParameter] = [], isComposite: Bool = false,
        summary: String = "", example: String? = nil,
        make: @escaping @Sendable (StageArguments) throws -> any Stage
    ) {
        self.name = name
        self.parameters = parameters
        self.isComposite = isComposite
        self.summary = summary
        self.example = example
        self.make = make
    }
}
