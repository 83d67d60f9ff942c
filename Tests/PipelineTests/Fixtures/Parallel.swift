import Pipeline

/// A composite that runs its body on a fork and then takes over what the fork found.
struct Parallel: CompositeStage {
    var body: Chain

    init(@ChainBuilder _ body: () -> Chain) { self.body = body() }

    func run(_ load: inout Load) async throws -> Outcome {
        var fork = load.forked(events: nil)
        try await body.run(&fork)
        load.adopt(fork)
        return .done
    }
}
