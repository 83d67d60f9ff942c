/// What a waiter is called for.
enum FlightCall: Sendable {
    /// There is a place for the flight: this waiter lets it depart, and waits again.
    case departure
    /// The flight has landed.
    case landing(Landing)
}
