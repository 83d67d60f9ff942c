import Pipeline

/// When a load set out, counted among all loads and stores of its ``Flights``.
///
/// A load that looked at the disk before an original was stored there, and asks for it after, must still join the
/// flight that fetched it rather than fetch it again.
struct FlightOrder: LoadAttachment {
    let number: UInt64
}
