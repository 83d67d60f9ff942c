import Synchronization

/// The time that a load's work may take in all: reading its header, decoding, transforms and encoding. Waiting for a
/// thread or for memory doesn't count.
package final class WorkTime: Sendable {
    private let limit: Duration?
    private let clock: any LoadClock
    private let nanoseconds: Atomic<Int64>

    /// Begins to count.
    /// - Parameters:
    ///   - limit: The time that all work may take together; `nil` for no limit.
    ///   - used: What earlier work has used of it.
    package init(limit: Duration?, used: Duration = .zero, clock: any LoadClock = SystemClock()) {
        self.limit = limit
        self.clock = clock
        nanoseconds = Atomic(Int64(used / .nanoseconds(1)))
    }

    /// The time used so far.
    package var used: Duration { .nanoseconds(nanoseconds.load(ordering: .relaxed)) }

    /// Does work on the calling thread, within the time that is left.
    /// - Throws: `LoadError` with ``LoadError/Code/tooMuchTime``, before the work begins if no time is left; the work's
    ///   own errors.
    package func run<Value>(
        _ cancellation: WorkCancellation, _ work: (WorkCancellation) throws -> Value
    ) throws -> Value {
        let limited = cancellation.limited(to: limit, after: used, by: clock)
        try limited.check()
        let start = clock.uptimeNanoseconds
        defer { nanoseconds.wrappingAdd(clock.uptimeNanoseconds &- start, ordering: .relaxed) }
        return try work(limited)
    }

    /// Does work on a thread that may block, within the time that is left.
    /// - Parameter isLeft: Whether this throws as soon as the time is over or the task is cancelled, even if the work
    ///   continues. See ``BlockingThreads/run(priority:isLeft:_:)``.
    package func run<Value: Sendable>(
        on threads: BlockingThreads, priority: LoadPriority, isLeft: Bool = false,
        _ work: @escaping @Sendable (WorkCancellation) throws -> Value
    ) async throws -> Value {
        guard isLeft, let limit else {
            return try await threads.run(priority: priority, isLeft: isLeft) { try self.run($0, work) }
        }
        let (begins, began) = AsyncStream.makeStream(of: Void.self)
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask {
                try await threads.run(priority: priority, isLeft: true) { cancellation in
                    began.yield()
                    return try self.run(cancellation, work)
                }
            }
            group.addTask {
                // Waiting for a thread doesn't count.
                for await _ in begins { break }
                let left = max(.zero, limit - self.used)
                let limited = WorkCancellation().limited(to: limit, after: self.used, by: self.clock)
                try await self.clock.sleep(untilLimit: left + .nanoseconds(1))
                guard limited.isCancelled else { return nil }
                // The work may go on for long, so it can't count its time itself.
                self.nanoseconds.wrappingAdd(Int64(left / .nanoseconds(1)) + 1, ordering: .relaxed)
                try limited.check()
                return nil
            }
            defer { group.cancelAll() }
            while let result = try await group.next() {
                if let result { return result }
            }
            throw CancellationError()
        }
    }
}

extension Load {
    /// Counts the time of work on this load's bytes or pixels. Set ``workTime`` from it when the work has ended.
    package func time(within limit: Duration?) -> WorkTime { WorkTime(limit: limit, used: workTime, clock: clock) }
}
