import Dispatch

/// Runs tasks on one thread at a time, so that however many wait, Swift's own threads are free for others.
final class SerialTaskExecutor: TaskExecutor {
    private let queue: DispatchQueue

    init(name: String) { queue = DispatchQueue(label: name) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
