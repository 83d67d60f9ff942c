public import Pipeline

/// Several stages that count as one, in a ``FirstOf``.
public struct Alternative: CompositeStage {
    /// The stages.
    public var body: Chain

    /// Takes stages for one.
    public init(@ChainBuilder _ body: () -> Chain) { self.body = body() }

    /// Runs the stages.
    public func run(_ load: inout Load) async throws -> Outcome {
        try await body.run(&load)
        return .done
    }
}
