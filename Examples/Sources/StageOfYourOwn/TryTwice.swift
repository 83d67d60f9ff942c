import Pipeline

/// Runs its body once more if the origin couldn't be reached.
struct TryTwice: CompositeStage {
    var body: Chain

    init(@ChainBuilder _ body: () -> Chain) { self.body = body() }

    func run(_ load: inout Load) async throws -> Outcome {
        let before = load
        do {
            try await body.run(&load)
        } catch let error as LoadError where error.code == .unreachable {
            load.restart(from: before)
            try await body.run(&load)
        }
        return .done
    }
}
