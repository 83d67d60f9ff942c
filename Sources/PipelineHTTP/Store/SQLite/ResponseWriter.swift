import Pipeline

/// The only thread that changes the stored responses. Changes that arrive while it is busy are committed together: a
/// transaction of one change costs about as much as one of ten.
final class ResponseWriter: Sendable {
    private struct Write {
        let work: @Sendable (ResponseTransaction) throws -> Void
        let finish: @Sendable (_ isCommitted: Bool) -> Void
    }

    private struct State {
        var waiting: [Write] = []
        var isRunning = false
        /// Whether the thread is committing what was queued.
        var isCommitting = false
        var isStopped = false
    }

    private let database: ResponseDatabase
    private let state = Monitor(State())

    init(_ database: ResponseDatabase) { self.database = database }

    deinit { stop() }

    /// Lets the thread end once no change is queued. Later changes are dropped.
    func stop() { state.withLock(wake: .all) { $0.isStopped = true } }

    /// Whether changes are queued or being committed.
    var isBusy: Bool { state.withLock { !$0.waiting.isEmpty || $0.isCommitting } }

    /// Makes changes and waits until they are committed, without blocking. The changes may run twice; only one run
    /// counts.
    /// - Returns: the result of `changes`, or `nil` if they failed.
    func run<Result: Sendable>(_ changes: @escaping @Sendable (ResponseTransaction) throws -> Result) async -> Result? {
        let result = Lock<Result?>(nil)
        return await withCheckedContinuation { continuation in
            enqueue(
                Write { transaction in
                    let value = try changes(transaction)
                    result.withLock { $0 = value }
                } finish: { isCommitted in
                    continuation.resume(returning: isCommitted ? result.withLock { $0 } : nil)
                })
        }
    }

    private func enqueue(_ write: Write) {
        let (accepted, starts) = state.withLock(wake: .one) { state -> (Bool, Bool) in
            guard !state.isStopped else { return (false, false) }
            state.waiting.append(write)
            defer { state.isRunning = true }
            return (true, !state.isRunning)
        }
        if !accepted { write.finish(false) }
        if starts { startThread() }
    }

    private func startThread() {
        let state = state
        let database = database
        // Readers are latency-critical and never wait for the writer, so the writer gives way to them.
        do {
            try Thread.start(name: "pipeline-store", givesWay: true) {
                while let writes = Self.next(state) { Self.commit(writes, database) }
            }
        } catch {
            // The next change tries again.
            let dropped = state.withLock { state in
                let dropped = state.waiting
                (state.waiting, state.isRunning) = ([], false)
                return dropped
            }
            for write in dropped { write.finish(false) }
        }
    }

    private static func next(_ state: Monitor<State>) -> [Write]? {
        state.wait { state in
            state.isCommitting = !state.waiting.isEmpty
            guard state.waiting.isEmpty else {
                defer { state.waiting = [] }
                return .some(state.waiting)
            }
            return state.isStopped ? .some(nil) : nil
        } whileIdle: { _, _ in
        }
    }

    private static func commit(_ writes: [Write], _ database: ResponseDatabase) {
        let together: Void? = database.write { transaction in
            for write in writes { try write.work(transaction) }
        }
        if together != nil || writes.count == 1 {
            for write in writes { write.finish(together != nil) }
        } else {
            // One of them failed; the others are committed separately.
            for write in writes {
                let alone: Void? = database.write(write.work)
                write.finish(alone != nil)
            }
        }
    }
}
