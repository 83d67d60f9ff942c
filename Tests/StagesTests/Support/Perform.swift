import Pipeline

/// A stage made of a closure.
struct Perform: Stage {
    var name = "Perform"
    var accepts: Phases = .empty
    let action: @Sendable (inout Load) async throws -> Outcome

    init(
        _ name: String = "Perform", accepts: Phases = .empty,
        _ action: @escaping @Sendable (inout Load) async throws -> Outcome
    ) {
        self.name = name
        self.accepts = accepts
        self.action = action
    }

    func run(_ load: inout Load) async throws -> Outcome { try await action(&load) }
}
