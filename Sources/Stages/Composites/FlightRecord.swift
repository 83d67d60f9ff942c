import Pipeline

/// One flight: who waits for it, what it has reported, how it ended.
struct FlightRecord {
    struct Waiter {
        let relay: EventRelay?
        /// Whether its load shows images as they come; `nil` if nobody is told of its events.
        var showsImages: (@Sendable () -> Bool)?
        /// How urgent the flight is to this waiter.
        var priority: LoadPriority
        var continuation: CheckedContinuation<FlightCall, any Error>?

        /// Throws `CancellationError` to a waiter that was dismissed, once none of its events is being delivered: after
        /// that it hears of none.
        func cancel() {
            let continuation = continuation
            guard let relay else {
                continuation?.resume(throwing: CancellationError())
                return
            }
            relay.close { continuation?.resume(throwing: CancellationError()) }
        }
    }

    /// How far it has come before its work begins.
    enum Departure {
        /// It waits for a place.
        case waiting
        /// It has its place; this waiter is to let it depart.
        case called(UInt64)
        /// Its work has begun.
        case over
    }

    let key: FlightKey
    /// The number of the outermost flight in whose work this one began; its own number if it began in none.
    let root: UInt64
    /// Keeps the objects alive that the key names by their addresses.
    private let list: ListIdentity?
    var departure: Departure
    /// `nil` while it waits for one, and for a flight inside another, which needs none.
    var place: Departures.Place?
    /// When the flight departed; see ``FlightOrder``.
    var order: UInt64?
    /// What the flight's work follows: the highest of those waiting.
    let priority: AdjustablePriority
    private(set) var waiters: [UInt64: Waiter] = [:]
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

    init(
        key: FlightKey, root: UInt64, list: ListIdentity?, departure: Departure, place: Departures.Place?,
        priority: LoadPriority
    ) {
        self.key = key
        self.root = root
        self.list = list
        self.departure = departure
        self.place = place
        self.priority = AdjustablePriority(priority)
    }

    /// Whether its work has begun.
    var hasDeparted: Bool { if case .over = departure { true } else { false } }

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

    mutating func wait(_ number: UInt64, _ continuation: CheckedContinuation<FlightCall, any Error>) {
        waiters[number]?.continuation = continuation
    }

    mutating func prioritize(_ number: UInt64, _ priority: LoadPriority) {
        guard let waiter = waiters[number] else { return }
        urgency[Int(waiter.priority.rawValue)] -= 1
        urgency[Int(priority.rawValue)] += 1
        waiters[number]?.priority = priority
    }

    /// Asks a waiter to let the flight depart: the one that has waited longest. Its continuation, if it waits already.
    mutating func call() -> CheckedContinuation<FlightCall, any Error>? {
        guard let number = waiters.keys.min() else { return nil }
        departure = .called(number)
        defer { waiters[number]?.continuation = nil }
        return waiters[number]?.continuation
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
