/// The events of a load, from its beginning to its end; see ``ImageTask/events``.
///
/// Any number of tasks can read them, each at its own pace. Only ``ImageTaskEvent/progress(received:expected:)`` and
/// ``ImageTaskEvent/preview(_:)`` are ever replaced by newer ones.
public struct ImageTaskEvents: AsyncSequence, Sendable {
    /// One event.
    public typealias Element = ImageTaskEvent

    let task: ImageTask
    /// Whether cancelling the reading task cancels the load.
    var cancels = true

    /// Reads the events.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let task: ImageTask
        let cancels: Bool
        private var last = 0

        init(task: ImageTask, cancels: Bool) {
            self.task = task
            self.cancels = cancels
        }

        /// The next event; `nil` at the load's end, and when the task is cancelled, which cancels the load.
        public mutating func next() async -> ImageTaskEvent? { await next(isolation: #isolation) }

        /// The next event, without leaving the reader's actor.
        /// - Parameter actor: The reader's actor.
        /// - Returns: `nil` at the load's end, and when the task is cancelled, which cancels the load.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> ImageTaskEvent? {
            while true {
                if let next = task.record.event(after: last) {
                    last = next.number
                    return next.event
                }
                if task.record.result != nil, task.record.event(after: last) == nil { return nil }
                guard cancels else {
                    await task.record.listen(after: last)
                    continue
                }
                let number = last
                await withTaskCancellationHandler {
                    // Captured, so that the closure runs on the actor.
                    _ = actor
                    await task.record.listen(after: number)
                } onCancel: { [task] in
                    task.cancel()
                }
            }
        }
    }

    /// Starts reading at the load's beginning.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(task: task, cancels: cancels) }
}
