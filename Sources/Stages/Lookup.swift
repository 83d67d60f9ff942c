import Essentials
import PipelineHTTP
public import Pipeline

/// Looks for a source's bytes among the responses of a tier.
///
/// A fresh response becomes the load's original, or is the redirect that ``FollowRedirects`` follows. A stale one becomes the load's stale response, for the origin to
/// confirm, unless another tier has a later one. Freshness is judged on every lookup. Only responses from the network are
/// stored, so the stage skips other sources.
///
/// Put the nearest tier first. ``Store`` brings what was found in a farther tier to the nearer ones, with the origin's
/// fields and times, so that every tier expires it at the same moment.
public struct Lookup: KeyedStage, CredentialStage, ClockedStage {
    public let accepts: Phases = .empty
    /// The source's bytes or a redirect, or still nothing.
    public let produces: Phases = [.empty, .redirected, .original]

    public let leaves: Set<ResponseState.Kind> = [.stale, .fresh]

    private let tier: HTTPCache
    private let rules: CacheRules

    package static func specification(
        _ name: String, _ summary: String, in tier: @escaping @Sendable () throws -> HTTPCache
    ) -> StageSpecification {
        StageSpecification(name, summary, .lookupRules) { Lookup(try tier(), rules: $0) }
    }

    /// Looks in `tier`. Under `CacheRules.http`, HTTP's rules alone decide what is fresh, whatever the request's
    /// `expiry` is. Under `CacheRules.offline`, a stale response becomes the load's original too, and the load is
    /// stale.
    public init(_ tier: HTTPCache, rules: CacheRules = .asRequested) {
        self.tier = tier
        self.rules = rules
    }

    /// The fields of the tier.
    package var credentials: CredentialFields { tier.users.credentials }

    /// The clock of the tier.
    package var cacheClock: (any LoadClock)? { tier.clock }

    /// The tier, unless it is the disk; `http rules` or `offline rules`, if they apply.
    public var parameters: String { rules.text(in: tier) }

    public var identity: StageIdentity? { StageIdentity("\(rules)", over: [tier]) }

    /// Looks, and moves the load to the original on a hit.
    /// - Throws: `CancellationError` if the task is cancelled.
    public func run(_ load: inout Load) async throws -> Outcome {
        guard case .url = load.request.source, let key = load.sourceKey else { return .skipped }
        load.note(key: .source(key))
        guard load.mayUseStored else {
            load.note(.notFound(.requestNoStore))
            return .miss
        }
        let isHit = try await load.look(in: tier, rules: rules)
        tier.noteLookup?(isHit)
        return isHit ? .hit : .miss
    }
}

/// Looks for a source's bytes in the nearest tier.
@available(*, deprecated, renamed: "Lookup")
public typealias DiskLookup = Lookup

extension Load {
    /// Whether the request allows its response to be stored (RFC 9111 section 5.2.1.5).
    package var mayUseStored: Bool {
        request.headers.isEmpty || !CacheControl(request.headers).contains("no-store")
    }

    /// Looks for the response to the load's URL in a tier.
    /// - Parameters:
    ///   - begun: When the load began to wait, if the tier was looked in before. What it has now, another load has
    ///     fetched meanwhile.
    /// - Returns: Whether it has a response that may be given.
    mutating func look(in tier: HTTPCache, rules: CacheRules, again begun: Date? = nil) async throws -> Bool {
        guard case .url(let url) = request.source, let key = sourceKey else { return false }
        let isSecond = begun != nil
        // The client decides, which may rewrite the URL.
        if isRedirected, urlRule?(url) == false { return miss(.notAllowed, isSecond) }
        let known = response.kind == .stale ? response.stored : nil
        let isOwn = known.map { $0.tier === tier.identity } ?? true
        let found = try await tier.look(
            key, headers: Preconditions.removed(from: request.headers), expiry: request.expiry, rules: rules,
            priority: priority, isCounted: !isSecond && !isRedirected, certainSince: begun ?? .distantFuture)
        let (stored, freshness): (StoredResponse, Freshness)
        switch found {
        case .fresh(let response, let judged), .stale(let response, let judged):
            (stored, freshness) = (response, judged)
        case .miss(let reason): return miss(reason, isSecond)
        }
        guard stored.came(by: urlRule) else { return miss(.notAllowed, isSecond) }
        guard stored.isSuccess || stored.isRedirect && followsRedirects else {
            return miss(.status(stored.status), isSecond)
        }
        if !isSecond { note(stored.isRedirect ? .redirected(freshness) : .found(freshness)) }
        if freshness.mayBeServed {
            var source = tier.source
            if isSecond, isOwn, let known {
                // It is as if the load had asked the origin itself.
                source = known.generation == stored.generation ? .revalidated : .network
            }
            isStale = freshness.verdict == .acceptedStale
            advance(response: .fresh(stored, freshness), from: source)
            return true
        }
        if rules == .offline {
            acceptStale(stored, freshness)
            return true
        }
        // Of several tiers' stale responses, the latest is confirmed.
        if isOwn || known.map({ $0.responseTime < stored.responseTime }) ?? true {
            advance(response: .stale(stored, freshness))
        }
        return false
    }

    private mutating func miss(_ reason: CacheMiss, _ isSecond: Bool) -> Bool {
        if !isSecond { note(.notFound(reason)) }
        return false
    }
}

extension StoredResponse {
    /// Whether all redirects that belong to it lead to URLs that may be asked.
    fileprivate func came(by rule: URLRule?) -> Bool {
        guard let rule, let redirects else { return true }
        return (redirects.targets.dropFirst() + [target]).allSatisfy { URL(string: $0).map(rule) ?? false }
    }
}
