import PipelineHTTP
public import Pipeline

/// Runs its body in one process at a time for each source. Other processes that share the cache wait for the response
/// instead of fetching it again.
///
/// Before the body runs, the disk is checked again, and a response stored since the load's lookup is used. The lease
/// lasts until ``Store`` has run. If its holder dies, the next waiter gets it. If the holder ends without storing, as
/// with `no-store`, all waiters run the body, so that processes never queue for a response that can't be shared.
///
/// The body runs without a lease if the cache can't be used or has 256 leases open.
public struct Lease: CompositeStage, CredentialStage, ClockedStage {
    /// The stages that ask the origin.
    public var body: Chain
    private let responses: HTTPCache
    private let rules: CacheRules
    private let patience: Duration

    package static func specification(_ resources: PipelineResources) -> StageSpecification {
        StageSpecification(
            composite: "lease", "Runs its stages in one process at a time.", .rules, .patience("process")
        ) { Lease(resources.responses, rules: $1, patience: $2, $0) }
    }

    /// Wraps the stages that ask the origin.
    /// - Parameters:
    ///   - responses: The cache whose folder holds the leases. It is checked again once the lease is granted.
    ///   - rules: The rules of the second lookup; `.http` ignores the request's `expiry`.
    ///   - patience: How long to wait for a holder that neither ends nor dies, such as a stopped process; 30 s by
    ///     default. Then the body runs without a lease.
    ///   - body: The stages.
    public init(
        _ responses: HTTPCache, rules: CacheRules = .asRequested, patience: Duration = .seconds(30),
        @ChainBuilder _ body: () -> Chain
    ) {
        self.responses = responses
        self.rules = rules
        self.patience = patience
        self.body = body()
    }

    /// Also a response that another process has stored.
    public var produces: Phases { body.outcomes(from: body.accepts).union(.original) }

    /// Also a response that another process has stored.
    public var leaves: Set<ResponseState.Kind> { body.leaves.union([.stale, .fresh]) }

    /// The stage uses the load's keys.
    public var needsIdentity: Bool { true }

    /// The fields of the cache.
    package var credentials: CredentialFields { responses.users.credentials }

    /// The clock of the cache.
    package var cacheClock: (any LoadClock)? { responses.clock }

    /// `http rules`, if they apply.
    public var parameters: String { rules.text }

    /// Waits for the lease, checks the disk again, and runs the body if nothing new is there.
    /// - Throws: The body's errors; `CancellationError` at once when the task is cancelled.
    public func run(_ load: inout Load) async throws -> Outcome {
        guard load.request.source.isRemote, let key = load.sourceKey, let variant = load.variantKey, mayBeStored(load)
        else {
            try await body.run(&load)
            return .done
        }
        let outcome = try await responses.lease(key, headers: variant.headers, patience: patience)
        if case .unavailable = outcome {
            try await body.run(&load)
            return .done
        }
        do {
            if try await findsNew(&load) {
                load.note("stored meanwhile")
                if case .granted(let lease) = outcome { await lease.giveBack() }
                return .hit
            }
            if case .granted(let lease) = outcome { load.attach(WriteRight(lease: lease)) }
            try await body.run(&load)
        } catch {
            // Other processes need not wait until the last copy of the failed load is released.
            if case .granted(let lease) = outcome { await lease.giveBack() }
            throw error
        }
        return .done
    }

    /// Whether the request allows its response to be stored.
    private func mayBeStored(_ load: Load) -> Bool {
        load.request.headers.isEmpty || !CacheControl(load.request.headers).contains("no-store")
    }

    /// Whether the disk has a fresh response that the load hasn't seen. A stale one is left to the body.
    private func findsNew(_ load: inout Load) async throws -> Bool {
        let known = load.response.kind == .stale ? load.response.stored : nil
        guard case .url(let url) = load.request.source else { return false }
        var trail = RedirectTrail(at: url, of: load, credentials: responses.users.credentials)
        trail.rules = rules
        switch try await trail.look(in: responses, for: load) {
        case .fresh(let response, let freshness):
            // For a load with a stale entry it is as if it had asked the origin itself.
            let source: LoadSource =
                known.map { $0.generation == response.generation ? .revalidated : .network } ?? .disk
            load.giveStored(response, freshness, &trail, from: source)
            return true
        case .stale(let response, let freshness):
            load.advance(response: .stale(response, freshness))
            load.attach(trail)
            return false
        case .miss:
            load.attach(trail)
            return false
        }
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
