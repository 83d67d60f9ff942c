import Pipeline

/// One flight: who waits for it, what it has reported, how it ended.
struct FlightRecord {
    struct Waiter {
        let relay: EventRelay?
        let joined: Bool
        var continuation: CheckedContinuation<Landing, any Error>?
    }

    let key: FlightKey
    /// When the flight set out; see ``FlightOrder``.
    let order: UInt64
    var waiters: [UInt64: Waiter] = [:]
    var history: [LoadEvent] = []
    var task: Task<Void, Never>?
    var landing: Landing?
    /// Tickets that are still held; only for a source.
    var members = 0
    var claimed = false
    /// When the original was stored; see ``FlightOrder``.
    var storedAt: UInt64?

    /// Remembers an event for those who join later; of the progress, only the newest.
    mutating func remember(_ event: LoadEvent) {
        if case .progress = event, case .progress = history.last { history.removeLast() }
        history.append(event)
    }

    /// Whether a load that set out as number `order` may still join.
    func admits(_ order: UInt64) -> Bool { storedAt.map { order < $0 } ?? true }
}
