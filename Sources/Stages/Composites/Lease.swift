import PipelineHTTP
public import Pipeline

/// Runs its body in one process at a time for each source: what another process that shares the cache is fetching is
/// waited for, not fetched again.
///
/// Before the body runs, the disk is looked at again: a response stored since the load looked is used. The
/// lease lasts until ``Store`` has run. If its holder dies, the next who waits gets it; if the holder was done and stored
/// nothing, as with `no-store`, all who waited run the body, so that processes never queue for what can't be shared.
///
/// A cache that can't be used has no leases, and one that has 256 open has no more: then the body just runs.
public struct Lease: CompositeStage, CredentialStage {
    /// What asks the origin.
    public var body: Chain
    private let responses: HTTPCache
    private let rules: CacheRules
    private let patience: Duration

    /// Wraps the stages that ask the origin.
    /// - Parameters:
    ///   - responses: the cache by whose folder processes know each other, and which is looked at again.
    ///   - rules: what the second look keeps to; `.http` to set the request's `expiry` aside.
    ///   - patience: how long to wait for a holder that neither ends nor dies, such as a process that was stopped; 30 s by
    ///     default. Then the body runs without a lease.
    ///   - body: the stages.
    public init(
        _ responses: HTTPCache, rules: CacheRules = .asRequested, patience: Duration = .seconds(30),
        @ChainBuilder _ body: () -> Chain
    ) {
        self.responses = responses
        self.rules = rules
        self.patience = patience
        self.body = body()
    }

    /// Also what another process has stored.
    public var produces: Phases { body.outcomes(from: body.accepts).union(.original) }

    /// Also what another process has stored.
    public var leaves: Set<ResponseState.Kind> { body.leaves.union([.stale, .fresh]) }

    /// Goes by the load's keys.
    public var needsIdentity: Bool { true }

    /// Those of the cache.
    package var credentials: CredentialFields { responses.users.credentials }

    /// `http rules`, where they are in force.
    public var parameters: String { rules.text }

    /// Waits for the lease if need be, looks at the disk again, and runs the body if nothing new is there.
    /// - Throws: what the body throws; `CancellationError` at once when the task is cancelled.
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
            // The others need not wait until the last copy of a failed load is gone.
            if case .granted(let lease) = outcome { await lease.giveBack() }
            throw error
        }
        return .done
    }

    /// A request may say that its answer is nobody else's.
    private func mayBeStored(_ load: Load) -> Bool {
        load.request.headers.isEmpty || !CacheControl(load.request.headers).contains("no-store")
    }

    /// Whether the disk has something fresh that the load has not seen; what is stale and new is kept for the body.
    private func findsNew(_ load: inout Load) async throws -> Bool {
        let known = load.response.kind == .stale ? load.response.stored : nil
        guard case .url(let url) = load.request.source else { return false }
        var trail = RedirectTrail(at: url, of: load, credentials: responses.users.credentials)
        trail.rules = rules
        switch try await trail.look(in: responses, for: load) {
        case .fresh(let response, let freshness):
            // To a load with a stale entry it is as if it had asked itself.
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
