import Pipeline

/// Runs tasks and closures on one thread of its own, in order, so that however many wait, Swift's own threads are free for
/// others. The thread starts with the first, and ends with the object.
final class SerialThread: TaskExecutor {
    private struct State {
        var work: [@Sendable () -> Void] = []
        var isStarted = false
        var isOver = false
    }

    private let name: String
    private let state = Monitor(State())

    /// - Parameter name: At most 15 bytes.
    init(name: String) { self.name = name }

    deinit { state.withLock(wake: .one) { $0.isOver = true } }

    func run(_ work: @escaping @Sendable () -> Void) {
        let starts = state.withLock(wake: .one) { state in
            state.work.append(work)
            defer { state.isStarted = true }
            return !state.isStarted
        }
        guard starts else { return }
        let state = state
        do {
            try Thread.start(name: name) {
                while let work = Self.next(state) { for work in work { work() } }
            }
        } catch {
            // The system refuses a thread: the work is done here rather than never, and the next starts one again.
            let left = state.withLock { state in
                state.isStarted = false
                defer { state.work = [] }
                return state.work
            }
            for work in left { work() }
        }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        run { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// Waits for work, and takes all of it; `nil` at the end.
    private static func next(_ state: Monitor<State>) -> [@Sendable () -> Void]? {
        state.wait { state -> [@Sendable () -> Void]?? in
            guard !state.work.isEmpty else { return state.isOver ? .some(nil) : nil }
            defer { state.work = [] }
            return state.work
        } whileIdle: { _, _ in
        }
    }
}
