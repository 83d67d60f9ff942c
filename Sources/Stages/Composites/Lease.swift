import PipelineHTTP
public import Pipeline

/// Runs its body once at a time for each source, among all processes or machines that share a tier. Others wait for the
/// response instead of fetching it again.
///
/// ```swift
/// Lease(disk) {                                    // one process of a machine
///     Lookup(shared)
///     Lease(shared) { Fetch(client) }      // one machine of a service
/// }
/// ```
///
/// Before the body runs, the tier is checked again, and a response stored since the load's lookup is used. The lease
/// lasts until ``Store`` has run. If its holder dies, the next waiter gets it. If the holder ends without storing, as
/// with `no-store`, all waiters run the body, so that loads never queue for a response that can't be shared.
///
/// The body runs without a lease if the tier has none, or they can't be used: a folder allows 256 at a time.
public struct Lease: CompositeStage, KeyedStage, CredentialStage, ClockedStage {
    public var body: Chain
    private let tier: HTTPCache
    private let rules: CacheRules
    private let patience: Duration

    /// - Parameter holder: Who holds a lease, such as `process`.
    package static func specification(
        _ name: String, _ summary: String, among holder: String, in tier: @escaping @Sendable () throws -> HTTPCache
    ) -> StageSpecification {
        StageSpecification(composite: name, summary, .rules, .patience(holder)) {
            Lease(try tier(), rules: $1, patience: $2, $0)
        }
    }

    /// Wraps the stages that ask the origin.
    /// - Parameters:
    ///   - tier: The tier that has the leases. It is checked again once the lease is granted.
    ///   - rules: The rules of the second lookup; `.http` ignores the request's `expiry`.
    ///   - patience: How long to wait for a holder that neither ends nor dies, such as a stopped process; 30 s by
    ///     default. Then the body runs without a lease.
    ///   - body: The stages.
    public init(
        _ tier: HTTPCache, rules: CacheRules = .asRequested, patience: Duration = .seconds(30),
        @ChainBuilder _ body: () -> Chain
    ) {
        self.tier = tier
        self.rules = rules
        self.patience = patience
        self.body = body()
    }

    /// Also a response that another load has stored.
    public var produces: Phases { body.outcomes(from: body.accepts).union(.original) }

    /// Also a response that another load has stored.
    public var leaves: Set<ResponseState.Kind> { body.leaves.union([.stale, .fresh]) }

    /// The fields of the tier.
    package var credentials: CredentialFields { tier.users.credentials }

    /// The clock of the tier.
    package var cacheClock: (any LoadClock)? { tier.clock }

    /// The tier, unless it is the disk; `http rules`, if they apply.
    public var parameters: String { rules.text(in: tier) }

    public var identity: StageIdentity? { StageIdentity("\(rules), \(patience)", over: [tier]) }

    /// Waits for the lease, checks the tier again, and runs the body if nothing new is there.
    /// - Throws: The body's errors; `CancellationError` at once when the task is cancelled.
    public func run(_ load: inout Load) async throws -> Outcome {
        guard load.request.source.isRemote, let key = load.sourceKey, let variant = load.variantKey, load.mayUseStored
        else {
            try await body.run(&load)
            return .done
        }
        let begun = load.clock.now
        var waiting = load
        let turn = try await tier.turn(key, headers: variant.headers, patience: patience) {
            try await waiting.look(in: tier, rules: rules, again: begun)
        }
        load = waiting
        var hold: (any LeaseHold)?
        switch turn {
        case .found:
            load.note("stored meanwhile")
            return .hit
        case .alone: break
        case .hold(let granted):
            hold = granted
            load.attach(WriteRight(load.attachment(WriteRight.self), holding: granted, of: tier))
        }
        let askedAt = load.clock.now
        do {
            try await body.run(&load)
        } catch {
            await tier.related(to: hold).removeReplaced(by: error, for: load, askedAt: askedAt)
            // Others need not wait until the last copy of the failed load is released.
            await hold?.end(isStored: false)
            throw error
        }
        return .done
    }
}

extension StageParameter<Duration> {
    /// How long a stage waits for another holder of its lease.
    package static func patience(_ holder: String) -> Self {
        .optional(
            "patience", .seconds(0...86_400), "How long to wait for another \(holder).", default: .seconds(30),
            example: "10")
    }
}
