public import Pipeline

/// Runs its body; where the origin can't be reached, the stale image at hand is the answer.
///
/// What forbids it is the stored response (`must-revalidate`, `no-cache`; RFC 9111 section 4.2.4) and a request that says
/// `no-cache`. An origin that answers with 500, 502, 503 or 504 is stood in for only where `stale-if-error` allows it
/// (RFC 5861 section 4). The load's `isStale` tells; its source is the disk.
public struct StaleIfError: CompositeStage {
    /// What may fail.
    public var body: Chain

    /// Wraps the stages that ask the origin.
    public init(@ChainBuilder _ body: () -> Chain) { self.body = body() }

    /// Also the stale bytes themselves.
    public var produces: Phases { body.outcomes(from: body.accepts).union(.original) }

    /// Runs the body.
    public func run(_ load: inout Load) async throws -> Outcome {
        let start = load
        do {
            try await body.run(&load)
        } catch let error as LoadError {
            guard let entry = start.attachment(StaleEntry.self), entry.freshness.mayStandIn(for: error) else {
                throw error
            }
            load.restart(from: start)
            load.giveStale(entry)
            load.note("\(error.code.rawValue): the stale response stands in")
        }
        return .done
    }
}

extension Freshness {
    fileprivate func mayStandIn(for error: LoadError) -> Bool {
        switch error.code {
        case .unreachable, .timedOut: mayBeServedWhenUnreachable || mayBeServedOnError
        case .httpStatus: mayBeServedOnError && [500, 502, 503, 504].contains(error.httpStatus)
        default: false
        }
    }
}

extension Load {
    /// Goes on with a stored response that is past its freshness.
    mutating func giveStale(_ entry: StaleEntry) {
        isStale = true
        attach(StoredEntry(response: entry.response, freshness: entry.freshness))
        advance(to: .original(entry.response.encodedImage), from: .disk)
    }
}
