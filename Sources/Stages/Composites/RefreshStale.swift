import PipelineHTTP
public import Pipeline

/// Serves a stale image at once if its response allows that, and runs its body in the background so that the next load
/// finds a fresh one (`stale-while-revalidate`, RFC 5861 section 3). Every other load just runs the body.
///
/// Refreshes belong to the ``Flights``. At most one runs for a response; it sends every header field of the request,
/// and ``Flights/drain()`` waits for it.
public struct RefreshStale: CompositeStage {
    public var body: Chain
    private let flights: Flights

    package static func specification(_ resources: PipelineResources) -> StageSpecification {
        StageSpecification(
            composite: "refreshStale", "Serves a stale image if its response allows that, and refreshes it for later."
        ) { RefreshStale(resources.flights, $0) }
    }

    /// Wraps the stages from the one that asks the origin to the store.
    public init(_ flights: Flights, @ChainBuilder _ body: () -> Chain) {
        self.flights = flights
        self.body = body()
    }

    /// Also the image that is still in memory.
    public var produces: Phases { body.outcomes(from: body.accepts).union(.ready) }

    public var needs: Set<ResponseState.Kind> { [.stale] }

    public var identity: StageIdentity? { StageIdentity(over: [flights]) }

    /// Runs the body, on the stale bytes if they may be served. An image made from them that is still in memory is the
    /// result as it is.
    public func run(_ load: inout Load) async throws -> Outcome {
        guard load.phase == .empty, case .stale(let stored, let freshness) = load.response,
            freshness.mayBeServedWhileRevalidating
        else {
            try await body.run(&load)
            return .done
        }
        let fork = load.forked(events: nil)
        flights.refresh(stored.generation) { [body] in
            var fork = fork
            // A failed refresh changes nothing: the next load asks again.
            try? await body.run(&fork)
        }
        load.note("stale, refreshed in the background")
        if let kept = load.attachment(MemoryEntry.self), kept.isMade(from: stored) {
            load.isStale = true
            load.report(.hasCache(kept.product, source: .memory))
            load.give(kept, until: kept.validity.end(for: load.request.expiry, under: .asRequested))
            return .done
        }
        load.acceptStale(stored, freshness)
        try await body.run(&load)
        if let product = load.content.product { load.report(.hasCache(product, source: .disk)) }
        return .done
    }
}
