import FoundationEssentials
import HTTPTypes
public import Pipeline
public import PipelineHTTP
import Stages

/// Looks for a source's bytes in the tier that machines share.
///
/// A fresh response becomes the load's original as if the origin had sent it: with the origin's fields and times, so that
/// every tier expires it at the same moment, and `Store` keeps it on this machine. A stale one is confirmed by the origin
/// if this machine has none, or an older one.
public struct SharedLookup: Stage, ClockedStage {
    /// Nothing has been found yet.
    public let accepts: Phases = .empty
    /// The source's bytes, or still nothing.
    public let produces: Phases = [.empty, .original]
    /// A response as the origin has sent it, or a stale one.
    public let leaves: Set<ResponseState.Kind> = [.stale, .fetched]

    private let fleet: Fleet
    private let rules: CacheRules

    package static func specification(_ fleet: @escaping @Sendable () throws -> Fleet) -> StageSpecification {
        StageSpecification("sharedLookup", "Looks for the source's response in the tier of --shared.", .rules) {
            SharedLookup(try fleet(), rules: $0)
        }
    }

    /// Looks in the tier of `fleet`. Under `CacheRules.http`, HTTP's rules alone decide what is fresh, whatever the
    /// request's `expiry` is.
    public init(_ fleet: Fleet, rules: CacheRules = .asRequested) {
        self.fleet = fleet
        self.rules = rules
    }

    /// The tier is asked, not the origin.
    public var asksOrigin: Bool { false }

    /// The stage uses the load's keys.
    public var needsIdentity: Bool { true }

    /// The clock of the fleet.
    package var cacheClock: (any LoadClock)? { fleet.clock }

    /// `http rules`, if they apply.
    public var parameters: String { rules == .asRequested ? "" : "\(rules) rules" }

    /// Looks, and moves the load to the original on a hit.
    /// - Throws: `CancellationError` if the task is cancelled.
    public func run(_ load: inout Load) async throws -> Outcome {
        guard load.request.source.isRemote, load.sourceKey != nil, load.mayBeShared else { return .skipped }
        let isHit = try await load.look(in: fleet.cache, rules: rules)
        fleet.reports.report(.lookedUp(isHit: isHit))
        return isHit ? .hit : .miss
    }
}

/// The stale response of the shared tier that the origin is asked about.
struct SharedStale: LoadAttachment {
    let response: StoredResponse
}

extension Load {
    /// Whether the request allows its response to be stored.
    var mayBeShared: Bool { request.headers.isEmpty || !CacheControl(request.headers).contains("no-store") }

    /// Looks in the shared tier, through redirects that are stored there.
    /// - Returns: Whether the load has its original.
    mutating func look(in shared: HTTPCache, rules: CacheRules) async throws -> Bool {
        guard case .url(let url) = request.source else { return false }
        var trail = RedirectTrail(at: url, of: self, credentials: shared.users.credentials)
        trail.rules = rules
        switch try await trail.look(in: shared, for: self) {
        case .fresh(let response, let freshness):
            note(.found(freshness))
            let headers = trail.selectingFields(self)
            trail.followed = trail.followed.map { redirect in
                guard case .stored(let stored) = redirect, let exchange = HTTPExchange(of: stored, for: headers) else {
                    return redirect
                }
                return .fetched(exchange, stored.key)
            }
            guard let exchange = HTTPExchange(of: response, for: headers) else { return false }
            isStale = trail.acceptsStale
            arrive(by: &trail)
            deliver(exchange, from: .shared)
            return true
        case .stale(let response, let freshness):
            note(.found(freshness))
            guard trail.followed.isEmpty, self.response.stored.map({ $0.responseTime < response.responseTime }) ?? true
            else { return false }
            advance(response: .stale(response, freshness))
            // Tells `Fetch` what to confirm.
            var own = RedirectTrail(at: url, of: self, credentials: shared.users.credentials)
            own.rules = attachment(RedirectTrail.self)?.rules
            attach(own)
            attach(SharedStale(response: response))
            return false
        case .miss(let miss):
            note(.notFound(miss))
            return false
        }
    }
}

extension HTTPExchange {
    /// The exchange from which a response was stored; `nil` if its URL can't be read.
    init?(of stored: StoredResponse, for requestHeaders: HTTPFields) {
        guard let url = URL(string: stored.target) else { return nil }
        self.init(
            url: url, requestHeaders: requestHeaders, status: stored.status, headers: stored.headers,
            requestTime: stored.requestTime, responseTime: stored.responseTime, body: stored.body)
    }
}
