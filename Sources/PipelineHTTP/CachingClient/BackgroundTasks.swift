import Pipeline

/// Work that continues after a response was returned, such as a refresh: one piece for each stored response at a time.
///
/// It runs at low priority, whichever load started it, and a few pieces run concurrently. Each piece may hold a stored
/// body, so only a limited number wait. Work beyond that is dropped, since the next load of the response asks for it
/// again.
package final class BackgroundTasks: Sendable {
    /// How many pieces run concurrently.
    static let limit = 8
    /// How many more may wait.
    static let waitingLimit = 56

    package typealias Work = @Sendable () async -> Void

    private struct State {
        var lastNumber: UInt64 = 0
        /// The running and waiting tasks, by the response that they are about.
        var numbers: [Int64: UInt64] = [:]
        var waiting: Queue<(generation: Int64, number: UInt64, work: Work)> = []
        /// The running tasks; `nil` until the task is known.
        var running: [Int64: Task<Void, Never>?] = [:]
        var cancelledUpTo: UInt64 = 0
        var idleWaiters: [(last: UInt64, continuation: CheckedContinuation<Void, Never>)] = []

        mutating func takeIdle() -> [CheckedContinuation<Void, Never>] {
            guard !idleWaiters.isEmpty else { return [] }
            let oldest = numbers.values.min() ?? .max
            let idle = idleWaiters.filter { $0.last < oldest }.map(\.continuation)
            idleWaiters.removeAll { $0.last < oldest }
            return idle
        }
    }

    private let state = Lock(State())
    private let executor: (any TaskExecutor)?

    /// Makes it without work. Work runs on `executor`, or on Swift's own threads.
    package init(executor: (any TaskExecutor)? = nil) { self.executor = executor }

    /// Starts work about a stored response, unless some is in progress or too much waits.
    package func start(_ generation: Int64, _ work: @escaping Work) {
        state.withLock { state in
            guard state.numbers[generation] == nil,
                state.running.count < Self.limit || state.waiting.count < Self.waitingLimit
            else { return }
            state.lastNumber += 1
            state.numbers[generation] = state.lastNumber
            state.waiting.append((generation, state.lastNumber, work))
        }
        startWaiting()
    }

    private func startWaiting() {
        while let next = next() {
            let task = Task(executorPreference: executor, priority: .low) {
                // Not as part of the load that started it.
                await CurrentFlight.$outermost.withValue(nil) {
                    await AdjustablePriority.$inherited.withValue(AdjustablePriority(.low)) { await next.work() }
                }
                self.end(next.generation)
            }
            let isCancelled = state.withLock { state in
                // It may be over already.
                if state.numbers[next.generation] == next.number { state.running[next.generation] = task }
                return next.number <= state.cancelledUpTo
            }
            if isCancelled { task.cancel() }
        }
    }

    private func next() -> (generation: Int64, number: UInt64, work: Work)? {
        state.withLock { state in
            guard state.running.count < Self.limit, let next = state.waiting.popFirst() else { return nil }
            state.running[next.generation] = .some(nil)
            return next
        }
    }

    private func end(_ generation: Int64) {
        let idle = state.withLock { state in
            state.running[generation] = nil
            state.numbers[generation] = nil
            return state.takeIdle()
        }
        for continuation in idle { continuation.resume() }
        startWaiting()
    }

    /// Waits until all work that is running or waiting now has ended.
    package func drain() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if !state.numbers.isEmpty { state.idleWaiters.append((state.lastNumber, continuation)) }
                return state.numbers.isEmpty
            }
            if isIdle { continuation.resume() }
        }
    }

    /// Drops the work that waits. Running work continues.
    package func dropWaiting() {
        // The work is released outside the lock: it may hold the last reference to a client.
        let (idle, _) = state.withLock { state in
            let waiting = state.waiting
            state.waiting = []
            for piece in waiting { state.numbers[piece.generation] = nil }
            return (state.takeIdle(), waiting)
        }
        for continuation in idle { continuation.resume() }
    }

    /// Cancels all running and waiting work.
    package func cancel() {
        let tasks = state.withLock { state in
            state.cancelledUpTo = state.lastNumber
            return state.running.values.compactMap(\.self)
        }
        dropWaiting()
        for task in tasks { task.cancel() }
    }
}
