import Pipeline

/// Work that goes on after the answer was given, one piece for each stored answer at a time.
final class BackgroundTasks: Sendable {
    private struct State {
        var tasks: [Int64: Task<Void, Never>] = [:]
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Lock(State())
    private let executor: (any TaskExecutor)?

    /// Nothing is under way; what is to come runs on `executor`, or on Swift's own threads.
    init(executor: (any TaskExecutor)? = nil) { self.executor = executor }

    /// Starts work about a stored answer, unless some is under way.
    func start(_ generation: Int64, _ work: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            guard state.tasks[generation] == nil else { return }
            // Its end takes this lock, so it can't come before the task is on the books.
            state.tasks[generation] = Task(executorPreference: executor, priority: .low) {
                await work()
                self.end(generation)
            }
        }
    }

    /// Waits until none is under way.
    func drain() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if !state.tasks.isEmpty { state.waiting.append(continuation) }
                return state.tasks.isEmpty
            }
            if isIdle { continuation.resume() }
        }
    }

    /// Cancels what is under way.
    func cancel() { for task in state.withLock({ Array($0.tasks.values) }) { task.cancel() } }

    private func end(_ generation: Int64) {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.tasks[generation] = nil
            guard state.tasks.isEmpty else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
