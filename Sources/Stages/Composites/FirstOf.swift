public import Pipeline

/// Tries one source after the other: each stage of its body is an alternative, and the first that gives something wins.
///
/// ```swift
/// FirstOf {
///     Fetch(responses, client)
///     Alternative {
///         Fetch(responses, mirror)                     // a Rewritten client, which asks another host
///         Decode()                                     // what this one gives has to decode
///     }
/// }
/// ```
///
/// An alternative that fails, or leaves the load where it was, has its place taken by the next. Whoever watches the load
/// sees one request; the trace shows each alternative. Cancellation ends all of them.
public struct FirstOf: CompositeStage {
    /// The alternatives, the best one first.
    public var body: Chain

    /// They are alternatives.
    public let hasAlternatives = true

    /// Wraps the alternatives.
    public init(@ChainBuilder _ body: () -> Chain) { self.body = body() }

    /// What any of the alternatives can leave a load in.
    public var produces: Phases {
        body.stages.reduce(into: Phases()) { phases, stage in phases.formUnion(stage.produces) }
    }

    /// Runs the alternatives in their order, until one has moved the load on.
    /// - Throws: what the last alternative that failed threw, if none gave anything.
    public func run(_ load: inout Load) async throws -> Outcome {
        let events = RetryEvents(load)
        var attempt = load.forked(events: load.isWatched ? { @Sendable event in events.take(event) } : nil)
        defer { load.adopt(attempt) }
        let start = attempt
        var failure: LoadError?
        for alternative in body.stages where alternative.accepts.contains(start.phase) {
            do {
                attempt.restart(from: start)
                try await Chain([alternative]).run(&attempt)
                if attempt.phase > start.phase { return .done }
            } catch let error as LoadError {
                failure = error
            }
        }
        events.release()
        guard let failure else { return .miss }
        throw failure
    }
}
