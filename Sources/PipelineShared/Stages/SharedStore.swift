public import Pipeline
public import PipelineHTTP
import Stages

/// Stores the response that a ``FleetLease`` has fetched in the tier that machines share, and ends the lease.
///
/// Put it after the stages that decode, so that bytes that don't decode are never shared, and before `Store`. Of several
/// loads that share a fetch, the first one stores it. Only the holder of the lease can: if the lease has ended meanwhile,
/// or the URL was made invalid, Redis refuses the commit.
public struct SharedStore: Stage, ClockedStage {
    /// Any content.
    public let accepts: Phases = [.original, .decoded, .encoded]
    /// The same content.
    public let produces: Phases = [.original, .decoded, .encoded]

    private let fleet: Fleet
    private let rules: CacheRules

    package static func specification(_ fleet: @escaping @Sendable () throws -> Fleet) -> StageSpecification {
        StageSpecification(
            "sharedStore", "Stores the response in the tier of --shared, and ends the lease.", .rules
        ) { SharedStore(try fleet(), rules: $0) }
    }

    /// Stores in the tier of `fleet`. Under `CacheRules.http`, a request's expiry isn't stored.
    public init(_ fleet: Fleet, rules: CacheRules = .asRequested) {
        self.fleet = fleet
        self.rules = rules
    }

    /// Nothing but content changes hands.
    public var leaves: Set<ResponseState.Kind> { [] }

    /// The response is stored.
    public var storesResult: Bool { true }

    /// The stage uses the load's keys.
    public var needsIdentity: Bool { true }

    /// The clock of the fleet.
    package var cacheClock: (any LoadClock)? { fleet.clock }

    /// `http rules`, if they apply.
    public var parameters: String { rules == .asRequested ? "" : "\(rules) rules" }

    /// Stores the response. If that fails, the load still succeeds.
    public func run(_ load: inout Load) async throws -> Outcome {
        guard let right = load.attachment(FleetRight.self) else { return .skipped }
        // No load that gets this one's result may hold its right.
        load.detach(FleetRight.self)
        guard right.claim() else { return .skipped }
        let finished = load
        // Machines wait for it, so a cancellation doesn't stop it.
        let isStored = await Task { await keep(finished, right) }.value
        await right.end(isStored ? nil : .notShared)
        return isStored ? .done : .skipped
    }

    private func keep(_ load: Load, _ right: FleetRight) async -> Bool {
        let cache = fleet.cache(under: right.token)
        let expiry = load.request.expiry
        if let (stored, update) = right.confirmed {
            return await cache.freshen(stored, by: update, expiry: expiry, rules: rules) != nil
        }
        let exchange: HTTPExchange
        switch load.response {
        case .fetched(let fetched): exchange = fetched
        case .confirmed(let stored, let update):
            // This machine's own response, which the shared tier may not have.
            guard let whole = merged(stored, update, load) else { return false }
            exchange = whole
        case .fresh, .stale, .unknown: return false
        }
        guard let key = load.arrival.map(\.key) ?? load.sourceKey else { return false }
        guard await keepRedirects(of: load, right) else {
            // What the tier has of it is outdated all the same.
            await cache.evict(key, for: exchange.requestHeaders, askedAt: exchange.requestTime)
            return false
        }
        let within = load.arrival?.within ?? []
        let kept = await cache.keep(exchange, for: key, expiry: expiry, rules: rules, within: within)
        return kept.response != nil
    }

    /// Stores the redirects that the load followed.
    /// - Returns: Whether the response may be shared: without its redirects, it would never be found.
    private func keepRedirects(of load: Load, _ right: FleetRight) async -> Bool {
        let cache = fleet.cache(under: right.token, isFenced: false)
        for redirect in load.arrival?.followed ?? [] {
            guard let (exchange, key) = exchange(of: redirect, load) else { return false }
            switch await cache.keep(exchange, for: key, expiry: load.request.expiry, rules: rules) {
            // A newer one is stored.
            case .stored, .outdated: break
            case .refused, .unavailable: return false
            }
        }
        return true
    }

    /// A redirect that a load followed, as an exchange to store.
    private func exchange(of redirect: FollowedRedirect, _ load: Load) -> (HTTPExchange, SourceKey)? {
        switch redirect {
        case .fetched(let exchange, let key): key.map { (exchange, $0) }
        case .stored(let stored): HTTPExchange(of: stored, for: load.request.headers).map { ($0, stored.key) }
        case .confirmed(let stored, let update): merged(stored, update, load).map { ($0, stored.key) }
        }
    }

    /// A stored response with its confirmation, as if the origin had sent it whole.
    private func merged(_ stored: StoredResponse, _ update: HTTPExchange, _ load: Load) -> HTTPExchange? {
        let merged = fleet.cache.policy.merged(stored, by: update, now: load.clock.now, load.request.expiry, rules)
        return HTTPExchange(of: merged, for: update.requestHeaders)
    }
}
