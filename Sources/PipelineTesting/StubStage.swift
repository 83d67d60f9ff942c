public import Pipeline

/// A stage made of a closure, for a test that needs one and does not want to declare a type.
///
/// ```swift
/// StubStage("Fetch", accepts: .empty, produces: .original) { load in
///     load.advance(to: .original(EncodedImage(bytes: jpeg)), from: .network)
///     return .done
/// }
/// ```
public struct StubStage: Stage {
    /// What the stage is called in lists, traces and errors.
    public let name: String
    /// The phases in which the closure is called.
    public let accepts: Phases
    /// The phases in which the closure can leave a load.
    public let produces: Phases
    /// What the stage claims to do to the pixels.
    public let signature: String?
    private let action: @Sendable (inout Load) async throws -> Outcome

    /// Makes a stage that does what `action` does.
    /// - Parameters:
    ///   - name: what it is called in lists, traces and errors.
    ///   - accepts: the phases in which `action` is called.
    ///   - produces: where `action` can leave a load; by default in the accepted phases or any later one.
    ///   - signature: what the stage claims to do to the pixels; by default nothing.
    ///   - action: what the stage does.
    public init(
        _ name: String = "StubStage", accepts: Phases = .empty, produces: Phases? = nil, signature: String? = nil,
        _ action: @escaping @Sendable (inout Load) async throws -> Outcome
    ) {
        self.name = name
        self.accepts = accepts
        self.produces = produces ?? accepts.andLater
        self.signature = signature
        self.action = action
    }

    /// Calls the closure.
    public func run(_ load: inout Load) async throws -> Outcome { try await action(&load) }
}
