import PipelineHTTP
import Pipeline

/// A load's right to store what it has fetched, among all loads that share the fetch: those of this process through
/// ``Coalesce``, and those of other processes and machines through ``Lease``.
///
/// ``Coalesce`` and ``Lease`` attach it, and ``Store`` uses it up. A load that ends earlier gives it up by releasing
/// it. Until then others wait for the source, and loads of this process can join the fetch.
final class WriteRight: LoadAttachment {
    private let fetch: (flights: Flights, number: UInt64)?
    /// The leases, each with the tier that they are for.
    private let holds: [(tier: TierIdentity, hold: any LeaseHold)]
    private let isClaimed = Lock(false)

    /// A member's part in a fetch, with the leases that the fetch has obtained.
    init(_ flights: Flights, fetch: UInt64, leasesOf right: WriteRight?) {
        self.fetch = (flights, fetch)
        holds = right?.holds ?? []
    }

    /// The right of a load that has obtained a lease in a tier, perhaps after one in another.
    init(_ right: WriteRight?, holding hold: any LeaseHold, of tier: HTTPCache) {
        fetch = nil
        holds = (right?.holds ?? []) + [(tier.identity, hold)]
    }

    deinit { inFetch { $0.writes.leave($1) } }

    private func inFetch<Value>(_ body: (inout Flights.State, UInt64) -> Value) -> Value? {
        fetch.map { fetch in fetch.flights.change { body(&$0, fetch.number) } }
    }

    /// The lease in a tier; `nil` if the load has none there.
    func hold(of tier: HTTPCache) -> (any LeaseHold)? { holds.last { $0.tier === tier.identity }?.hold }

    /// Returns whether this load is to write the response: true for the first that asks, of all that share the fetch.
    func claim() -> Bool {
        if let isWriter = inFetch({ $0.writes.claim($1) }) { return isWriter }
        return isClaimed.withLock { isClaimed in
            defer { isClaimed = true }
            return !isClaimed
        }
    }

    /// Notes that the response has been written, unless other members have given it tags meanwhile. Later loads find it in
    /// the store.
    /// - Returns: These tags, with which this is to be called again.
    @discardableResult
    func stored() -> Set<String> {
        inFetch { state, fetch in
            let tags = state.writes.fetches[fetch]?.tags ?? []
            state.writes.fetches[fetch]?.tags = []
            if tags.isEmpty { state.writes.fetches[fetch]?.writtenAt = state.work.nextNumber() }
            return tags
        } ?? []
    }

    /// Leaves tags to the load that writes the response.
    /// - Returns: Whether it takes them; false once it has written.
    func leave(_ tags: Set<String>) -> Bool {
        inFetch { state, fetch in
            guard let known = state.writes.fetches[fetch], known.writtenAt == nil else { return false }
            state.writes.fetches[fetch]?.tags.formUnion(tags)
            return true
        } ?? false
    }

    /// Notes that none of the loads may store the response.
    func refuse() { inFetch { $0.writes.fetches[$1]?.isRefused = true } }

    /// Whether the load that was to write the response has found that it may not be stored.
    var isRefused: Bool { inFetch { $0.writes.fetches[$1]?.isRefused } == true }

    /// Ends the leases, so that others can fetch the source. A second call does nothing.
    func end() async {
        for (_, hold) in holds { await hold.end(isStored: false) }
    }
}
