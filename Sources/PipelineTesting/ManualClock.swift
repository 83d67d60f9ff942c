public import Essentials
public import Pipeline

/// A clock that stands still until a test advances it.
///
/// ```swift
/// let clock = ManualClock()
/// let pipeline = ImagePipeline(clock: clock) { … }
/// async let response = pipeline.load(request)
/// try await clock.sleepers(1)                       // a stage waits now
/// clock.advance(by: .seconds(2))                    // and continues
/// ```
public final class ManualClock: LoadClock {
    private struct Sleeper {
        let due: Duration
        /// Whether it waits for a time limit on other work.
        let isLimit: Bool
        let waiter: Waiter<Void>
    }

    private struct Watcher {
        let count: Int
        let includesLimits: Bool
        let waiter: Waiter<Void>
    }

    private struct State {
        var now: Date
        var uptime: Duration = .zero
        var lastNumber = 0
        var sleepers: [Int: Sleeper] = [:]
        var watchers: [Int: Watcher] = [:]

        mutating func takeNumber() -> Int {
            lastNumber += 1
            return lastNumber
        }

        func count(includingLimits: Bool) -> Int {
            includingLimits ? sleepers.count : sleepers.values.count { !$0.isLimit }
        }

        mutating func takeContentWatchers() -> [Waiter<Void>] {
            let content = watchers.filter { $0.value.count <= count(includingLimits: $0.value.includesLimits) }
            for number in content.keys { watchers[number] = nil }
            return content.values.map(\.waiter)
        }
    }

    private let state: Lock<State>

    /// Makes a clock that shows `now`: by default a November evening in 2023, and an uptime of zero.
    public init(now: Date = Date(timeIntervalSince1970: 1_700_000_000)) { state = Lock(State(now: now)) }

    /// The time of day that the clock shows.
    public var now: Date { state.withLock { $0.now } }

    /// How far the clock was advanced.
    public var uptime: Duration { state.withLock { $0.uptime } }

    /// How far the clock was advanced, in nanoseconds.
    public var uptimeNanoseconds: Int64 {
        let parts = uptime.components
        return parts.seconds * 1_000_000_000 + parts.attoseconds / 1_000_000_000
    }

    /// Waits until the clock was advanced by `duration`; returns at once for a duration of zero or less.
    /// - Throws: `CancellationError` at once when the task is cancelled.
    public func sleep(for duration: Duration) async throws { try await sleep(for: duration, isLimit: false) }

    /// Waits as ``sleep(for:)`` does, without counting as a sleeper.
    /// - Throws: `CancellationError` at once when the task is cancelled.
    public func sleep(untilLimit duration: Duration) async throws { try await sleep(for: duration, isLimit: true) }

    private func sleep(for duration: Duration, isLimit: Bool) async throws {
        guard duration > .zero else { return try Task.checkCancellation() }
        try await wait { state, number, waiter in
            state.sleepers[number] = Sleeper(due: state.uptime + duration, isLimit: isLimit, waiter: waiter)
            return state.takeContentWatchers()
        }
    }

    /// The number of tasks that sleep on this clock, without those that wait for a time limit on other work.
    package var sleeperCount: Int { state.withLock { $0.count(includingLimits: false) } }

    /// When the next of them is due, counted from now; `nil` if none sleeps.
    package var nextDue: Duration? {
        state.withLock { state in
            state.sleepers.values.filter { !$0.isLimit }.map(\.due).min().map { $0 - state.uptime }
        }
    }

    /// Waits until at least `count` tasks sleep on this clock.
    /// - Parameters:
    ///   - count: The number of tasks.
    ///   - includingLimits: Whether to count tasks that wait for a time limit on other work; `false` by default.
    /// - Throws: `CancellationError` when the task is cancelled.
    public func sleepers(_ count: Int, includingLimits: Bool = false) async throws {
        try await wait { state, number, waiter in
            if state.count(includingLimits: includingLimits) >= count { return [waiter] }
            state.watchers[number] = Watcher(count: count, includesLimits: includingLimits, waiter: waiter)
            return []
        }
    }

    /// Advances the clock, including its time of day, and wakes the sleepers that are due: the earliest first, then
    /// those that fell asleep first.
    ///
    /// A task that sleeps again after waking counts from the time that the clock then shows.
    public func advance(by duration: Duration) {
        let due = state.withLock { state -> [Sleeper] in
            state.uptime += duration
            state.now += duration.timeInterval
            let due = state.sleepers.filter { $0.value.due <= state.uptime }
            for number in due.keys { state.sleepers[number] = nil }
            return due.sorted { ($0.value.due, $0.key) < ($1.value.due, $1.key) }.map(\.value)
        }
        for sleeper in due { sleeper.waiter.resume(with: .success(())) }
    }

    /// Sets only the time of day, as when a machine's clock is set back. No sleeper wakes.
    public func set(now: Date) { state.withLock { $0.now = now } }

    private func wait(_ begin: (inout State, Int, Waiter<Void>) -> [Waiter<Void>]) async throws {
        let waiter = Waiter<Void>()
        let number = state.withLock { $0.takeNumber() }
        try await waiter.wait {
            for waiter in state.withLock({ begin(&$0, number, waiter) }) { waiter.resume(with: .success(())) }
        } leave: {
            state.withLock { state in
                state.sleepers[number] = nil
                state.watchers[number] = nil
            }
            waiter.resume(with: .failure(CancellationError()))
        }
    }
}

extension Duration {
    fileprivate var timeInterval: TimeInterval {
        TimeInterval(components.seconds) + TimeInterval(components.attoseconds) / 1e18
    }
}
