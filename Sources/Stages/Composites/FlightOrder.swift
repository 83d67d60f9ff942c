import Pipeline

/// When a load began, in the order of all loads, stores and removals of its ``Flights``.
///
/// A load that looked at the disk before an original was stored there, and requests it afterwards, must still join the
/// flight that fetched it rather than fetch it again. A load that began before its source was removed must not store
/// it.
///
/// Not public, since the numbers mean something only to ``Flights``.
struct FlightOrder: LoadAttachment {
    let number: UInt64
    let flights: Flights

    /// Whether a source may still be stored: false if it was removed after the load began.
    func mayStore(_ source: SourceKey) -> Bool { !flights.isRemoved(source, since: number) }
}
