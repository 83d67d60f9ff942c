package import Pipeline

/// A composite that only runs its body.
package struct Wrap: CompositeStage {
    package var body: Chain

    package init(@ChainBuilder _ body: () -> Chain) { self.body = body() }

    package func run(_ load: inout Load) async throws -> Outcome {
        try await body.run(&load)
        return .done
    }
}
