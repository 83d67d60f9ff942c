import Foundation

/// Runs each piece of a task on a new thread, where it may block.
final class ThreadExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Foundation.Thread { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }.start()
    }
}
