import PipelineHTTP
public import Pipeline

/// Runs its body, and falls back to a stale image if the origin can't be reached.
///
/// The stored response can forbid that (`must-revalidate`, `no-cache`; RFC 9111 section 4.2.4), and so can a request
/// with `no-cache`. If the origin responds with 500, 502, 503 or 504, the response's or the request's `stale-if-error`
/// has to allow it (RFC 5861 section 4). `ImageRequest.staleIfError` allows it for any 5xx status, whatever the server
/// says of errors, for a time after the image has expired.
///
/// The response on disk comes first, unless a farther tier, such as one that machines share, has a later one that may stand
/// in. Without any, an image that is still in memory stands in. The load's `isStale` and its source show that.
public struct StaleIfError: CompositeStage {
    public var body: Chain

    package static let specification = StageSpecification(
        composite: "staleIfError", "Falls back to a stale image if the origin can't be reached.",
        make: StaleIfError.init)

    /// Wraps the stages that ask the origin.
    public init(@ChainBuilder _ body: () -> Chain) { self.body = body() }

    /// Also the stale bytes or product themselves.
    public var produces: Phases { body.outcomes(from: body.accepts).union([.redirected, .original, .ready]) }

    public var identity: StageIdentity? { StageIdentity() }

    public func run(_ load: inout Load) async throws -> Outcome {
        let start = load
        do {
            try await body.run(&load)
        } catch let error as LoadError {
            load = try standingIn(for: error, in: load, from: start)
        }
        return .done
    }

    /// Returns the load with the stale response or image.
    /// - Throws: `error`, if nothing may.
    private func standingIn(for error: LoadError, in failed: Load, from start: Load) throws -> Load {
        guard let failure = OriginFailure(error) else { throw error }
        var load = failed
        // The response of a farther tier may have taken the place of a nearer one, and forbid what the nearer one allows.
        let stale = [failed, start].compactMap(\.staleResponse)
        if stale.first?.freshness.isRefused == true { throw error }
        if let (stored, freshness) = stale.first(where: {
            $0.freshness.mayStandIn(for: failure, within: failed.request.staleIfError)
        }) {
            load.restart(from: start)
            load.acceptStale(stored, freshness)
        } else if start.staleResponse == nil, !failed.hasAnsweredRedirect,
            let stale = start.attachment(MemoryEntry.self), stale.mayStandIn(for: failure, in: start)
        {
            load.restart(from: start)
            load.isStale = true
            load.give(stale, until: stale.validity.end(for: load.request.expiry, under: .asRequested))
        } else {
            throw error
        }
        load.note(.standIn(for: error.code, from: load.source ?? .disk))
        return load
    }
}

extension Load {
    /// The stale response, if the load has come no farther.
    fileprivate var staleResponse: (stored: StoredResponse, freshness: Freshness)? {
        if case .stale(let stored, let freshness) = response { (stored, freshness) } else { nil }
    }
}
