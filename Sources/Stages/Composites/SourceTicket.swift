import Pipeline

/// A load's part in a flight for a source: it says who writes the original, and when.
///
/// The flight can be joined until its first member has stored the original, or all members have ended without; a
/// member has ended when the last copy of its ticket is gone.
final class SourceTicket: LoadAttachment {
    private let flights: Flights
    private let flight: UInt64

    init(_ flights: Flights, flight: UInt64) {
        self.flights = flights
        self.flight = flight
    }

    deinit { flights.leaveSource(flight) }

    /// Whether this member is to write the original: true for the first that asks.
    func claim() -> Bool { flights.claim(flight) }

    /// The original may not be kept, by any member.
    func refuse() { flights.refuse(flight) }

    /// Whether the member that was to write the original has found that it may not be kept.
    var isRefused: Bool { flights.isRefused(flight) }

    /// The original has been written: later loads find it on disk.
    func stored() { flights.stored(flight) }
}
