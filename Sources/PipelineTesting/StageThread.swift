import LibC
import Pipeline

/// Runs a task's jobs on a thread of their own, so that a blocking stage delays no other task. It pauses after the
/// first job, which lasts until the task first suspends.
final class StageThread: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isPaused = false
        var isOver = false

        /// The next job; `.some(nil)` if none will come, `nil` as long as the thread has to wait.
        mutating func next() -> UnownedJob?? {
            if !isPaused, !jobs.isEmpty { return jobs.removeFirst() }
            return isOver && jobs.isEmpty ? .some(nil) : nil
        }
    }

    private let state = Monitor(State())
    private let onFirstSuspension: @Sendable () -> Void

    /// Starts the thread.
    init(onFirstSuspension: @escaping @Sendable () -> Void) {
        self.onFirstSuspension = onFirstSuspension
        let status = startThread { [self] in runJobs() }
        precondition(status == 0, "The system refuses another thread (error \(status)); raise its limit of threads.")
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock(wake: .one) { $0.jobs.append(job) }
    }

    /// Continues after the first job.
    func resume() { state.withLock(wake: .one) { $0.isPaused = false } }

    /// Ends the thread: the task has no further jobs.
    func end() { state.withLock(wake: .one) { $0.isOver = true } }

    private func runJobs() {
        var isFirst = true
        while let job = state.wait(for: { $0.next() }, whileIdle: { _, _ in }) {
            if isFirst { state.withLock { $0.isPaused = true } }
            job.runSynchronously(on: asUnownedTaskExecutor())
            if isFirst { onFirstSuspension() }
            isFirst = false
        }
    }
}
