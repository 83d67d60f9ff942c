public import Pipeline

/// A load under way: what `ImageLoader.task(for:options:)` returns. Keep it or let it go: the load ends
/// by itself, or with ``cancel()``.
///
/// ```swift
/// let task = loader.task(for: url)
/// for await event in task.events { … }
/// let response = try await task.response
/// ```
///
/// Where a task of Swift's that waits for ``response`` or reads ``events`` is cancelled, the load is cancelled too.
public final class ImageTask: Sendable {
    /// Where the image comes from.
    public let source: ImageSource
    let record = ImageTaskRecord()
    private let adjustable: AdjustablePriority

    init(_ source: ImageSource, priority: LoadPriority) {
        self.source = source
        adjustable = AdjustablePriority(priority)
    }

    /// Begins at once, on the caller's thread: an image in memory is there when this returns.
    func start(
        executor: (any TaskExecutor)?,
        _ load: @escaping @Sendable (_ events: @escaping @Sendable (LoadEvent) -> Void) async throws -> ImageResponse
    ) {
        let priority = adjustable.value.taskPriority
        let running = Task.immediate(priority: priority, executorPreference: executor) { [record, adjustable] in
            await AdjustablePriority.$inherited.withValue(adjustable) {
                let result: Result<ImageResponse, any Error>
                do { result = .success(try await load { record.take($0) }) } catch { result = .failure(error) }
                record.end(result)
            }
            adjustable.end()
        }
        record.keep(running)
    }

    /// The response, as soon as it is there.
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

    /// The result if it is there already, as with an image in memory; `nil` while the load is under way.
    public var result: Result<ImageResponse, any Error>? { record.result }

    /// What the load tells, from its beginning, however late one looks. The last event tells how the load ended.
    public var events: ImageTaskEvents { ImageTaskEvents(task: self) }

    /// How urgent the load is. What it shares with others, it shares with the highest priority of those who wait; a
    /// change reaches work that waits for a thread or for a connection.
    public var priority: LoadPriority {
        get { adjustable.value }
        set { adjustable.set(newValue) }
    }

    /// Ends the load, unless it has ended: its waiters get `CancellationError` at once. Work that others wait for continues.
    public func cancel() { record.cancel() }
}
