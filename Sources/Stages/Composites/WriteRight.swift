import PipelineHTTP
import Pipeline

/// A load's right to store what it has fetched, among all loads that share the fetch: those of this process through
/// ``Coalesce``, and those of other processes and machines through ``Lease``.
///
/// ```swift
/// let right = load.attachment(WriteRight.self)
/// if right?.claim() ?? true {
///     await table.insert(load.response)
///     right?.stored()
///     await right?.end()
/// }
/// load.detach(WriteRight.self)
/// ```
///
/// ``Coalesce`` and ``Lease`` attach it, and ``Store`` uses it up. A load that ends earlier gives it up by releasing
/// it. Until then others wait for the source, and loads of this process can join the fetch.
final class WriteRight: LoadAttachment {
    private let flight: (flights: Flights, number: UInt64)?
    /// The leases, each with the tier that they are for.
    private let holds: [(tier: TierIdentity, hold: any LeaseHold)]
    private let isClaimed = Lock(false)

    /// A load's part in a flight, with the leases that the flight has obtained.
    init(_ flights: Flights, flight: UInt64, leasesOf right: WriteRight?) {
        self.flight = (flights, flight)
        holds = right?.holds ?? []
    }

    /// The right of a load that has obtained a lease in a tier, perhaps after one in another.
    init(_ right: WriteRight?, holding hold: any LeaseHold, of tier: HTTPCache) {
        flight = nil
        holds = (right?.holds ?? []) + [(tier.identity, hold)]
    }

    deinit { flight.map { $0.flights.leaveSource($0.number) } }

    /// The lease in a tier; `nil` if the load has none there.
    func hold(of tier: HTTPCache) -> (any LeaseHold)? { holds.last { $0.tier === tier.identity }?.hold }

    /// Returns whether this load is to write the response: true for the first that asks, of all that share the fetch.
    func claim() -> Bool {
        if let flight { return flight.flights.claim(flight.number) }
        return isClaimed.withLock { isClaimed in
            defer { isClaimed = true }
            return !isClaimed
        }
    }

    /// Notes that the response has been written. Later loads find it in the store.
    func stored() { flight.map { $0.flights.stored($0.number) } }

    /// Notes that none of the loads may store the response.
    func refuse() { flight.map { $0.flights.refuse($0.number) } }

    /// Whether the load that was to write the response has found that it may not be stored.
    var isRefused: Bool { flight.map { $0.flights.isRefused($0.number) } ?? false }

    /// Ends the leases, so that others can fetch the source. A second call does nothing.
    func end() async {
        for (_, hold) in holds { await hold.end(isStored: false) }
    }
}
