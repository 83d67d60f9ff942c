public import Pipeline

/// Tries several sources in order. Each stage of its body is an alternative, and the first one that yields something
/// wins.
///
/// ```swift
/// FirstOf {
///     Fetch(client)
///     Alternative {
///         Fetch(mirror)  // a Rewritten client, which asks another host
///         Decode()                                     // what this one gives has to decode
///     }
/// }
/// ```
///
/// If an alternative fails or leaves the load where it was, the next one is tried. The load's events show one request;
/// the trace shows each alternative. A cancelled load tries no further alternatives.
public struct FirstOf: CompositeStage {
    public var body: Chain

    /// The stages of the body are alternatives.
    public let hasAlternatives = true

    package static let specification = StageSpecification(
        composite: "firstOf", "Tries its stages in order until one yields something.", make: FirstOf.init)

    /// Wraps the alternatives.
    public init(@ChainBuilder _ body: () -> Chain) { self.body = body() }

    /// The phases in which any of the alternatives can leave a load.
    public var produces: Phases {
        body.stages.reduce(into: Phases()) { phases, stage in phases.formUnion(stage.produces) }
    }

    public var identity: StageIdentity? { StageIdentity() }

    /// Runs the alternatives in their order, until one has moved the load on.
    /// - Throws: The error of the last alternative that failed, if none moved the load on.
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
