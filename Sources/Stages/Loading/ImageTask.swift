public import Pipeline

/// A load under way, as `ImageLoader.task(for:options:)` returns it. It needn't be retained: the load ends by itself,
/// or with ``cancel()``.
///
/// ```swift
/// let task = loader.task(for: url)
/// for await event in task.events { … }
/// let response = try await task.response
/// ```
///
/// If the Swift task that awaits ``response`` or reads ``events`` is cancelled, the load is cancelled too.
public final class ImageTask: Sendable {
    /// Where the image comes from.
    public let source: ImageSource
    let record = ImageTaskRecord()
    private let adjustable: AdjustablePriority

    init(_ source: ImageSource, priority: LoadPriority) {
        self.source = source
        adjustable = AdjustablePriority(priority)
    }

    /// Starts the load at once, on the caller's thread. An image in memory is there when this returns.
    /// - Parameters:
    ///   - executor: Where it runs; `nil` for Swift's own threads.
    ///   - load: Gives its events and its result to the record. It returns nothing, since the waiting frames that returned
    ///     a response would have room for one each.
    func start(executor: (any TaskExecutor)?, _ load: @escaping @Sendable (ImageTaskRecord) async -> Void) {
        let priority = adjustable.value.taskPriority
        let running = Task.immediate(priority: priority, executorPreference: executor) { [record, adjustable] in
            await AdjustablePriority.$inherited.withValue(adjustable) { await load(record) }
            adjustable.end()
        }
        record.keep(running)
    }

    /// The response, once the load has ended.
    /// - Throws: `LoadError`, with the trace; `CancellationError` at once if this load, or the task that waits, is
    ///   cancelled.
    public var response: ImageResponse {
        get async throws {
            try await withTaskCancellationHandler {
                try await withCheckedContinuation { record.wait($0) }.get()
            } onCancel: {
                cancel()
            }
        }
    }

    /// The result if the load has ended, as with an image in memory; `nil` while it is under way.
    public var result: Result<ImageResponse, any Error>? { record.result }

    /// The load's events from its beginning, whenever you start reading. The last event says how the load ended.
    public var events: ImageTaskEvents { ImageTaskEvents(task: self) }

    /// How urgent the load is. Work that loads share has the highest priority of its waiters. A change reaches work
    /// that waits for a thread or for a connection.
    public var priority: LoadPriority {
        get { adjustable.value }
        set { adjustable.set(newValue) }
    }

    /// Cancels the load, unless it has ended. Pending awaits throw `CancellationError` at once. Work that others wait
    /// for continues.
    public func cancel() { record.cancel() }
}
