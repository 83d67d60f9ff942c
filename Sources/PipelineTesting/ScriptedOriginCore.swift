import LibC
import Pipeline

/// The state that an origin's threads share. It doesn't keep the origin itself alive.
final class ScriptedOriginCore: Sendable {
    private struct State: Sendable {
        var routes: [String: ScriptedOrigin.Handler] = [:]
        var scripts: [String: ArraySlice<ScriptedOrigin.Reply>] = [:]
        var log = ScriptedOrigin.Log()
        var waiters: [Int: Waiter] = [:]
        var lastWaiter = 0
        var threads = 0
        var isStopped = false

        /// The next reply of a path's script, whose last one is repeated; `nil` without a script.
        mutating func nextReply(_ path: String) -> ScriptedOrigin.Reply? {
            guard let script = scripts[path] else { return nil }
            return script.count > 1 ? scripts[path]?.removeFirst() : script.first ?? ScriptedOrigin.Reply(status: 404)
        }
    }

    private struct Waiter: Sendable {
        let condition: @Sendable (ScriptedOrigin.Log) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    /// Raised when everything has to end.
    let stopped: ScriptedOriginSignal
    private let ended: ScriptedOriginSignal
    private let otherwise: ScriptedOrigin.Handler
    private let state = Lock(State())

    init(otherwise: @escaping ScriptedOrigin.Handler, stopped: ScriptedOriginSignal, ended: ScriptedOriginSignal) {
        self.otherwise = otherwise
        self.stopped = stopped
        self.ended = ended
    }

    var log: ScriptedOrigin.Log { state.withLock { $0.log } }
    var isStopped: Bool { state.withLock { $0.isStopped } }

    func route(_ path: String, _ handler: @escaping ScriptedOrigin.Handler) {
        _ = state.withLock { state in
            (state.routes.updateValue(handler, forKey: path), state.scripts.removeValue(forKey: path))
        }
    }

    func script(_ path: String, _ replies: [ScriptedOrigin.Reply]) {
        _ = state.withLock { state in
            (state.scripts.updateValue(replies[...], forKey: path), state.routes.removeValue(forKey: path))
        }
    }

    func answer(_ request: ScriptedOrigin.Request) -> ScriptedOrigin.Reply {
        // Together, since a test may wait for this request in the log and then send one that must get the next reply.
        let (reply, handler, waits) = state.withLock { state in
            state.log.requests.append(request)
            return (state.nextReply(request.path), state.routes[request.path], !state.waiters.isEmpty)
        }
        if waits { resumeWaiters() }
        return reply ?? (handler ?? otherwise)(request)
    }

    /// Changes the log, and resumes the waiters whose condition it meets.
    @discardableResult
    func note<Result: Sendable>(_ change: @Sendable (inout ScriptedOrigin.Log) -> Result) -> Result {
        let (result, waits) = state.withLock { state in (change(&state.log), !state.waiters.isEmpty) }
        if waits { resumeWaiters() }
        return result
    }

    func until(_ condition: @escaping @Sendable (ScriptedOrigin.Log) -> Bool) async {
        let id = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { $0.waiters[id] = Waiter(condition: condition, continuation: continuation) }
                // The condition may be met already, or the wait may be over.
                if Task.isCancelled { resume(id) } else { resumeWaiters() }
            }
        } onCancel: {
            resume(id)
        }
    }

    /// Runs `body` on a thread of its own. ``stop()`` waits for its end.
    func start(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.threads += 1 }
        let status = startThread { [self] in
            body()
            end()
        }
        precondition(status == 0, "The system refuses another thread (error \(status)); raise its limit of threads.")
    }

    func stop() {
        state.withLock { $0.isStopped = true }
        stopped.raise()
        resumeWaiters()
        ended.wait()
    }

    private func end() {
        let isLast = state.withLock { state in
            state.threads -= 1
            return state.threads == 0
        }
        if isLast { ended.raise() }
    }

    private func resumeWaiters() {
        // Conditions are the test's code: never run them under the lock.
        let (log, waiters, isStopped) = state.withLock { ($0.log, $0.waiters, $0.isStopped) }
        for (id, waiter) in waiters where isStopped || waiter.condition(log) { resume(id) }
    }

    private func resume(_ id: Int) {
        let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
        waiter?.continuation.resume()
    }
}
