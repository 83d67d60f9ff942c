import Pipeline

/// One flight: who waits for it, what it has reported, how it ended.
struct FlightRecord {
    let key: FlightKey
    /// The number of the outermost flight in whose work this one began; its own number if it began in none.
    let root: UInt64
    /// Keeps the objects alive that the key names by their addresses.
    private let list: ListIdentity?
    /// What the flight's task waits for before it begins its work.
    let turn = FlightSlots.Turn()
    /// When the flight's work began; see ``FlightOrder``.
    var order: UInt64?
    /// What the flight's work follows: the highest of those waiting.
    let priority: AdjustablePriority
    private(set) var waiters: [UInt64: (boarding: Boarding, priority: LoadPriority)] = [:]
    /// How many wait with each priority.
    private var urgency = InlineArray<5, Int32>(repeating: 0)
    var history: [LoadEvent] = []
    var task: Task<Void, Never>?
    var landing: Landing?
    /// How many ``WriteRight``s are still held; only for a source.
    var members = 0
    var claimed = false
    /// Whether the member that was to write the original may not keep it.
    var isRefused = false
    /// When the original was stored; see ``FlightOrder``.
    var storedAt: UInt64?

    init(key: FlightKey, root: UInt64, list: ListIdentity?, priority: LoadPriority) {
        self.key = key
        self.root = root
        self.list = list
        self.priority = AdjustablePriority(priority)
    }

    /// The highest priority of those waiting; `nil` without any.
    var highest: LoadPriority? { LoadPriority.allCases.last { urgency[Int($0.rawValue)] > 0 } }

    mutating func board(_ boarding: Boarding, _ priority: LoadPriority) {
        waiters[boarding.number] = (boarding, priority)
        urgency[Int(priority.rawValue)] += 1
    }

    /// Takes a load off the flight; false if it isn't waiting.
    mutating func dismiss(_ number: UInt64) -> Bool {
        guard let (_, priority) = waiters.removeValue(forKey: number) else { return false }
        urgency[Int(priority.rawValue)] -= 1
        return true
    }

    /// Takes all loads off the flight, in the order in which they came.
    mutating func dismissAll() -> [Boarding] {
        let all = waiters.values.map(\.boarding).sorted { $0.number < $1.number }
        for boarding in all { _ = dismiss(boarding.number) }
        return all
    }

    mutating func prioritize(_ number: UInt64, _ priority: LoadPriority) {
        guard let old = waiters[number]?.priority else { return }
        urgency[Int(old.rawValue)] -= 1
        urgency[Int(priority.rawValue)] += 1
        waiters[number]?.priority = priority
    }

    /// Remembers an event for waiters that join later. Of the progress and of the previews only the newest is kept.
    /// - Returns: the event that it replaces.
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

    /// Whether a load that set out as number `order` may still join.
    func admits(_ order: UInt64) -> Bool { storedAt.map { order < $0 } ?? true }
}

/// How a flight ended, for all who waited. A class, so that those who wait have no room for it before it is there.
final class Landing: Sendable {
    let load: Load
    let error: (any Error)?

    init(_ load: Load, error: (any Error)? = nil) {
        self.load = load
        self.error = error
    }
}
