import Pipeline
import PipelineHTTP

/// A lease that Redis has granted to this machine, to fetch or to make something on behalf of all machines.
///
/// It is renewed until it ends. If its last reference is gone, it ends, and waiters ask for themselves.
final class FleetHold: LeaseHold {
    let token: FleetLeaseToken
    private let base: RedisStore
    private let leases: FleetLeases
    private let isHeld = Lock(true)
    private let renewal: Task<Void, Never>

    init(_ token: FleetLeaseToken, of store: RedisStore, _ leases: FleetLeases) {
        self.token = token
        base = store
        self.leases = leases
        renewal = Task { await leases.renew(token) }
    }

    deinit {
        renewal.cancel()
        guard isHeld.withLock(\.self) else { return }
        let (leases, token) = (leases, token)
        Task { await leases.release(token, .notShared) }
    }

    /// Changes are refused once the lease has ended, and end it.
    var store: (any ResponseStore)? { base.under(token, isFenced: true) }

    /// Changes are newer than what was stored before the lease was granted.
    var relatedStore: (any ResponseStore)? { base.under(token, isFenced: false) }

    /// A commit has ended the lease in Redis already.
    func end(isStored: Bool) async { await end(isStored ? nil : .notShared) }

    /// Ends the lease. A second call does nothing.
    /// - Parameter outcome: What waiters are told; `nil` if the commit has ended the lease.
    func end(_ outcome: LeaseOutcome?) async {
        let isFirst = isHeld.withLock { isHeld in
            defer { isHeld = false }
            return isHeld
        }
        guard isFirst else { return }
        renewal.cancel()
        if let outcome { await leases.release(token, outcome) }
    }
}

extension RedisStore {
    /// The store as the holder of a lease changes it.
    /// - Parameter isFenced: Whether changes are refused once the lease has ended, and end it; false for those of other
    ///   sources.
    func under(_ token: FleetLeaseToken, isFenced: Bool) -> RedisStore {
        var store = self
        store.lease = isFenced ? token : nil
        store.settledGeneration = token.number
        return store
    }
}
