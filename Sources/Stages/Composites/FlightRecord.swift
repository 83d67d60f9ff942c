import Pipeline

/// One flight: its waiters, its events, its result.
struct FlightRecord {
    let key: FlightKey
    /// The source of the load that began it: another than the key's once redirects were followed.
    let origin: SourceKey
    /// The number of the outermost flight in whose work this one began; its own number if it began in none.
    let root: UInt64
    /// The flight's task waits for this before it begins its work.
    let turn = FlightSlots.Turn()
    /// When the flight's work began; see ``FlightOrder``.
    var order: UInt64?
    /// The priority of the flight's work: the highest of its waiters.
    let priority: AdjustablePriority
    private(set) var waiters: [UInt64: (waiter: FlightWaiter, priority: LoadPriority)] = [:]
    /// The number of waiters of each priority.
    private var urgency = InlineArray<5, Int32>(repeating: 0)
    var history: [LoadEvent] = []
    var task: Task<Void, Never>?
    var result: FlightResult?
    /// The number of ``WriteRight``s in use; only for a source.
    var members = 0
    var claimed = false
    /// Whether the member that was to write the original found that it may not be stored.
    var isRefused = false
    /// When the original was stored; see ``FlightOrder``.
    var storedAt: UInt64?

    init(key: FlightKey, origin: SourceKey?, root: UInt64, priority: LoadPriority) {
        self.key = key
        self.origin = origin ?? key.source
        self.root = root
        self.priority = AdjustablePriority(priority)
    }

    /// The highest priority of the waiters; `nil` without any.
    var highest: LoadPriority? { LoadPriority.allCases.last { urgency[Int($0.rawValue)] > 0 } }

    mutating func add(_ waiter: FlightWaiter, _ priority: LoadPriority) {
        waiters[waiter.number] = (waiter, priority)
        urgency[Int(priority.rawValue)] += 1
    }

    /// Removes a waiter; false if it isn't waiting.
    mutating func remove(_ number: UInt64) -> Bool {
        guard let (_, priority) = waiters.removeValue(forKey: number) else { return false }
        urgency[Int(priority.rawValue)] -= 1
        return true
    }

    /// Removes and returns all waiters, oldest first.
    mutating func removeAll() -> [FlightWaiter] {
        let all = waiters.values.map(\.waiter).sorted { $0.number < $1.number }
        for waiter in all { _ = remove(waiter.number) }
        return all
    }

    mutating func prioritize(_ number: UInt64, _ priority: LoadPriority) {
        guard let old = waiters[number]?.priority else { return }
        urgency[Int(old.rawValue)] -= 1
        urgency[Int(priority.rawValue)] += 1
        waiters[number]?.priority = priority
    }

    /// Remembers an event for waiters that join later. Only the newest progress and the newest preview are kept.
    /// - Returns: The event that it replaces.
    mutating func remember(_ event: LoadEvent) -> LoadEvent? {
        let replaced =
            switch event {
            case .progress: history.firstIndex { if case .progress = $0 { true } else { false } }
            case .preview: history.firstIndex { if case .preview = $0 { true } else { false } }
            default: nil as Int?
            }
        defer { history.append(event) }
        return replaced.map { history.remove(at: $0) }
    }

    /// Whether a load that began as number `order` may still join.
    func admits(_ order: UInt64) -> Bool { storedAt.map { order < $0 } ?? true }
}

/// The result of a flight, for all waiters. A class, so that waiting frames need no room for it.
final class FlightResult: Sendable {
    let load: Load
    let error: (any Error)?

    init(_ load: Load, error: (any Error)? = nil) {
        self.load = load
        self.error = error
    }
}
