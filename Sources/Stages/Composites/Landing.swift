import Pipeline

/// How a flight ended, as one of its waiters gets it.
struct Landing: Sendable {
    let load: Load
    let error: (any Error)?
    /// Whether the flight was another load's.
    var joined = false
    /// The waiter's part in a flight for a source.
    var ticket: SourceTicket?
}
