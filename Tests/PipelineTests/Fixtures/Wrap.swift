import Pipeline

/// A composite that only runs its body.
struct Wrap: CompositeStage {
    var body: Chain

    init(@ChainBuilder _ body: () -> Chain) { self.body = body() }

    func run(_ load: inout Load) async throws -> Outcome {
        try await body.run(&load)
        return .done
    }
}
