import PipelineHTTP
public import Pipeline

/// Looks for a source's bytes among the stored responses.
///
/// A fresh response becomes the load's original. A stale one becomes the load's stale response, for the origin to
/// confirm. Freshness is judged on every lookup. Only responses from the network are stored, so the stage skips other
/// sources.
public struct DiskLookup: Stage, CredentialStage, ClockedStage {
    /// Nothing has been found yet.
    public let accepts: Phases = .empty
    /// The source's bytes, or still nothing.
    public let produces: Phases = [.empty, .original]

    /// A stored response.
    public let leaves: Set<ResponseState.Kind> = [.stale, .fresh]

    private let responses: HTTPCache
    private let rules: CacheRules

    package static func specification(_ resources: PipelineResources) -> StageSpecification {
        StageSpecification("diskLookup", "Looks for a stored response.", .lookupRules) {
            DiskLookup(resources.responses, rules: $0)
        }
    }

    /// Looks in `responses`. Under `CacheRules.http`, HTTP's rules alone decide what is fresh, whatever the request's
    /// `expiry` is. Under `CacheRules.offline`, a stale response becomes the load's original too, and the load is
    /// stale.
    public init(_ responses: HTTPCache, rules: CacheRules = .asRequested) {
        self.responses = responses
        self.rules = rules
    }

    /// The stage uses the load's keys.
    public var needsIdentity: Bool { true }

    /// The fields of the cache.
    package var credentials: CredentialFields { responses.users.credentials }

    /// The clock of the cache.
    package var cacheClock: (any LoadClock)? { responses.clock }

    /// `http rules` or `offline rules`, if they apply.
    public var parameters: String { rules.text }

    /// Looks, and moves the load to the original on a hit.
    /// - Throws: `CancellationError` if the task is cancelled.
    public func run(_ load: inout Load) async throws -> Outcome {
        guard case .url(let url) = load.request.source, let key = load.sourceKey else { return .skipped }
        load.note(key: .source(key))
        let request = load.request
        if !request.headers.isEmpty, CacheControl(request.headers).contains("no-store") {
            load.note(.notFound(.requestNoStore))
            return .miss
        }
        var trail = RedirectTrail(at: url, of: load, credentials: responses.users.credentials)
        trail.rules = rules
        switch try await trail.look(in: responses, for: load, isCounted: true) {
        case .fresh(let response, let freshness):
            load.note(.found(freshness))
            load.giveStored(response, freshness, &trail)
            return .hit
        case .stale(let response, let freshness):
            load.note(.found(freshness))
            if rules == .offline, let standIn = trail.standIn {
                load.attach(trail)
                load.giveStale(standIn)
                return .hit
            }
            load.advance(response: .stale(response, freshness))
        case .miss(let miss): load.note(.notFound(miss))
        }
        // Tells `Fetch` where to go on and what to confirm.
        load.attach(trail)
        return .miss
    }
}
