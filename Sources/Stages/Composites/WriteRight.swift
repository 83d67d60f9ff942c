import PipelineHTTP
public import Pipeline

/// A load's right to store what it has fetched, among all loads that share the fetch: those of this process through
/// ``Coalesce``, and those of other processes through ``Lease``.
///
/// ```swift
/// let right = load.attachment(WriteRight.self)
/// if right?.claim() ?? true {
///     await table.insert(load.response)
///     right?.stored()
/// }
/// load.detach(WriteRight.self)
/// await right?.end()
/// ```
///
/// ``Coalesce`` and ``Lease`` attach it, and ``Store`` uses it up. A load that ends earlier gives it up by releasing
/// it. Until then other processes wait for the source, and loads of this process can join the fetch.
public final class WriteRight: LoadAttachment {
    private let flight: (flights: Flights, number: UInt64)?
    private let lease: SourceLease?

    /// A load's part in a flight, with the lease that the flight has obtained.
    init(_ flights: Flights, flight: UInt64, lease: SourceLease?) {
        self.flight = (flights, flight)
        self.lease = lease
    }

    /// The right of a load that shares its fetch with other processes alone.
    init(lease: SourceLease) {
        flight = nil
        self.lease = lease
    }

    deinit { flight.map { $0.flights.leaveSource($0.number) } }

    /// The same lease for a load that has joined a flight.
    func joining(_ flights: Flights, flight: UInt64) -> WriteRight { WriteRight(flights, flight: flight, lease: lease) }

    /// Returns whether this load is to write the response: true for the first of the process that asks.
    public func claim() -> Bool { flight.map { $0.flights.claim($0.number) } ?? true }

    /// Notes that the response has been written. Later loads find it in the store.
    public func stored() { flight.map { $0.flights.stored($0.number) } }

    /// Notes that none of the loads may store the response.
    public func refuse() { flight.map { $0.flights.refuse($0.number) } }

    /// Whether the load that was to write the response has found that it may not be stored.
    public var isRefused: Bool { flight.map { $0.flights.isRefused($0.number) } ?? false }

    /// Ends the lease, so that other processes can fetch the source. A second call does nothing.
    public func end() async { await lease?.giveBack() }
}
