import Glibc
import Pipeline

/// Runs a task's jobs on a thread of their own, so that a blocking stage delays no other task. It pauses after the
/// first job, which lasts until the task first suspends.
///
/// Unchecked: `semaphore` is a POSIX semaphore, which any thread may use; all else is behind the lock.
final class StageThread: TaskExecutor, @unchecked Sendable {
    private struct State {
        var jobs: [UnownedJob] = []
        var isPaused = false
        var isOver = false
    }

    private let state = Lock(State())
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    private let onFirstSuspension: @Sendable () -> Void

    /// Starts the thread.
    init(onFirstSuspension: @escaping @Sendable () -> Void) {
        self.onFirstSuspension = onFirstSuspension
        sem_init(semaphore, 0, 0)
        var thread = pthread_t()
        let status = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<StageThread>.fromOpaque(argument).takeRetainedValue().runJobs()
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
        precondition(status == 0, "The system refuses another thread (error \(status)); raise its limit of threads.")
        pthread_detach(thread)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
        sem_post(semaphore)
    }

    /// Continues after the first job.
    func resume() {
        state.withLock { $0.isPaused = false }
        sem_post(semaphore)
    }

    /// Ends the thread: the task has no further jobs.
    func end() {
        state.withLock { $0.isOver = true }
        sem_post(semaphore)
    }

    private func runJobs() {
        var isFirst = true
        while true {
            sem_wait(semaphore)
            while let job = next() {
                if isFirst { state.withLock { $0.isPaused = true } }
                job.runSynchronously(on: asUnownedTaskExecutor())
                if isFirst { onFirstSuspension() }
                isFirst = false
            }
            if state.withLock({ $0.isOver && $0.jobs.isEmpty }) { return }
        }
    }

    private func next() -> UnownedJob? {
        state.withLock { $0.isPaused || $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }
    }
}
