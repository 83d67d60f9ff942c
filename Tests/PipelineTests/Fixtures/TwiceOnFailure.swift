import Pipeline

/// A composite that runs its body once more on the load as it was, if the body fails.
struct TwiceOnFailure: CompositeStage {
    var body: Chain

    init(@ChainBuilder _ body: () -> Chain) { self.body = body() }

    func run(_ load: inout Load) async throws -> Outcome {
        let before = load
        do {
            try await body.run(&load)
        } catch is LoadError {
            load.restart(from: before)
            try await body.run(&load)
        }
        return .done
    }
}
