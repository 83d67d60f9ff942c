public import Pipeline
public import PipelineHTTP
import Stages

/// Runs its body on one machine at a time for each source. Other machines wait for the response instead of fetching it
/// again.
///
/// ```swift
/// SharedLookup(fleet)
/// FleetLease(fleet) { Fetch(responses: responses, client: client) }
/// Decode()
/// SharedStore(fleet)                               // ends the lease
/// Store(memory, responses)
/// ```
///
/// The lease lasts until ``SharedStore`` has run, and is renewed meanwhile. If its holder dies, it ends after the fleet's
/// `leaseLifetime`, and the next waiter gets it. The commit of a holder that was stopped for longer is refused. If the
/// response can't be shared, as with `no-store` or an error, waiters run the body at once. They also do while Redis can't
/// be used.
///
/// Put it into `Lease`, so that only one process of a machine waits.
public struct FleetLease: CompositeStage, ClockedStage {
    /// The stages that ask the origin.
    public var body: Chain
    private let fleet: Fleet
    private let rules: CacheRules
    private let patience: Duration

    package static func specification(_ fleet: @escaping @Sendable () throws -> Fleet) -> StageSpecification {
        StageSpecification(
            composite: "fleetLease", "Runs its stages on one machine at a time, by a lease in the tier of --shared.",
            .rules, .patience("machine")
        ) { FleetLease(try fleet(), rules: $1, patience: $2, $0) }
    }

    /// Wraps the stages that ask the origin.
    /// - Parameters:
    ///   - fleet: The fleet that has the leases.
    ///   - rules: The rules of the second lookup; `.http` ignores the request's `expiry`.
    ///   - patience: How long to wait for other machines in all; 30 s by default. Then the body runs without a lease.
    ///   - body: The stages.
    public init(
        _ fleet: Fleet, rules: CacheRules = .asRequested, patience: Duration = .seconds(30),
        @ChainBuilder _ body: () -> Chain
    ) {
        self.fleet = fleet
        self.rules = rules
        self.patience = patience
        self.body = body()
    }

    /// Also a response that another machine has stored.
    public var produces: Phases { body.outcomes(from: body.accepts).union(.original) }

    /// Also a response that another machine has stored.
    public var leaves: Set<ResponseState.Kind> { body.leaves.union([.stale, .fetched]) }

    /// The stage uses the load's keys.
    public var needsIdentity: Bool { true }

    /// The clock of the fleet.
    package var cacheClock: (any LoadClock)? { fleet.clock }

    /// `http rules`, if they apply.
    public var parameters: String { rules == .asRequested ? "" : "\(rules) rules" }

    /// Waits for the lease, looks in the shared tier again, and runs the body if nothing new is there.
    /// - Throws: The body's errors; `CancellationError` at once when the task is cancelled.
    public func run(_ load: inout Load) async throws -> Outcome {
        guard load.request.source.isRemote, let key = load.sourceKey, let variant = load.variantKey, load.mayBeShared
        else {
            try await body.run(&load)
            return .done
        }
        let name = "\(key)\(variant.headers.x)\(variant.headers.y)"
        var waiting = load
        let turn = try await fleet.leases.turn(name, patience: patience) {
            try await waiting.look(in: fleet.cache, rules: rules)
        }
        load = waiting
        switch turn {
        case .found: return .hit
        case .alone: try await body.run(&load)
        case .hold(let right):
            do {
                try await body.run(&load)
            } catch {
                await evict(key, for: load, right, after: error)
                await right.end(.notShared)
                throw error
            }
            takeConfirmation(of: &load, right)
            load.attach(right)
        }
        return .done
    }

    /// A 304 about the shared tier's response: this machine has no row to bring up to date, so it stores the whole.
    private func takeConfirmation(of load: inout Load, _ right: FleetRight) {
        guard case .confirmed(let stored, let update) = load.response,
            let shared = load.attachment(SharedStale.self)?.response, shared.generation == stored.generation
        else { return }
        right.confirm(stored, by: update)
        let merged = fleet.cache.policy.merged(stored, by: update, now: load.clock.now, load.request.expiry, rules)
        guard let exchange = HTTPExchange(of: merged, for: update.requestHeaders) else { return }
        load.advance(response: .fetched(exchange), from: .revalidated)
    }

    /// Removes the shared response if the origin has said that it is no longer suitable (RFC 9111 section 4.3.3).
    private func evict(_ key: SourceKey, for load: Load, _ right: FleetRight, after error: any Error) async {
        guard let error = error as? LoadError, let status = error.httpStatus, [404, 410].contains(status),
            load.attachment(SharedStale.self) != nil
        else { return }
        let cache = fleet.cache(under: right.token, isFenced: false)
        await cache.evict(key, for: load.request.headers, askedAt: load.clock.now)
    }
}
