import Pipeline

/// One flight: who waits for it, what it has reported, how it ended.
struct FlightRecord {
    struct Waiter {
        let relay: EventRelay?
        let joined: Bool
        /// How urgent the flight is to this waiter.
        var priority: LoadPriority
        var continuation: CheckedContinuation<Landing, any Error>?
    }

    let key: FlightKey
    /// When the flight set out; see ``FlightOrder``.
    let order: UInt64
    /// What the flight's work follows: the highest of those waiting.
    let priority: AdjustablePriority
    private(set) var waiters: [UInt64: Waiter] = [:]
    /// How many wait with each priority.
    private var urgency = [Int](repeating: 0, count: LoadPriority.allCases.count)
    var history: [LoadEvent] = []
    var task: Task<Void, Never>?
    var landing: Landing?
    /// Tickets that are still held; only for a source.
    var members = 0
    var claimed = false
    /// When the original was stored; see ``FlightOrder``.
    var storedAt: UInt64?

    init(key: FlightKey, order: UInt64, priority: LoadPriority) {
        self.key = key
        self.order = order
        self.priority = AdjustablePriority(priority)
    }

    /// The highest priority of those waiting; `nil` without any.
    var highest: LoadPriority? { LoadPriority.allCases.last { urgency[Int($0.rawValue)] > 0 } }

    mutating func board(_ number: UInt64, _ waiter: Waiter) {
        waiters[number] = waiter
        urgency[Int(waiter.priority.rawValue)] += 1
    }

    @discardableResult
    mutating func dismiss(_ number: UInt64) -> Waiter? {
        guard let waiter = waiters.removeValue(forKey: number) else { return nil }
        urgency[Int(waiter.priority.rawValue)] -= 1
        return waiter
    }

    mutating func dismissAll() -> [Waiter] {
        let all = waiters.keys.sorted()
        return all.compactMap { dismiss($0) }
    }

    mutating func wait(_ number: UInt64, _ continuation: CheckedContinuation<Landing, any Error>) {
        waiters[number]?.continuation = continuation
    }

    mutating func prioritize(_ number: UInt64, _ priority: LoadPriority) {
        guard let waiter = waiters[number] else { return }
        urgency[Int(waiter.priority.rawValue)] -= 1
        urgency[Int(priority.rawValue)] += 1
        waiters[number]?.priority = priority
    }

    /// Remembers an event for those who join later; of the progress and of the previews, only the
    /// newest.
    mutating func remember(_ event: LoadEvent) {
        switch event {
        case .progress: history.removeAll { if case .progress = $0 { true } else { false } }
        case .preview: history.removeAll { if case .preview = $0 { true } else { false } }
        default: break
        }
        history.append(event)
    }

    /// Whether a load that set out as number `order` may still join.
    func admits(_ order: UInt64) -> Bool { storedAt.map { order < $0 } ?? true }
}
