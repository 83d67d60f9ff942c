import Pipeline

/// Which of two things came first.
final class Race: Sendable {
    private struct State {
        var result: Bool?
        var waiter: CheckedContinuation<Bool, Never>?
    }

    private let state = Lock(State())

    /// Something has come; only the first counts.
    func finish(_ result: Bool) {
        let waiter = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard state.result == nil else { return nil }
            state.result = result
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: result)
    }

    /// What came first, as soon as something has; to be asked once.
    func result() async -> Bool {
        await withCheckedContinuation { continuation in
            let result = state.withLock { state in
                if state.result == nil { state.waiter = continuation }
                return state.result
            }
            if let result { continuation.resume(returning: result) }
        }
    }

    /// What came first, or `false` if nothing has within a time; to be asked once.
    @discardableResult
    func result(within limit: Duration) async -> Bool {
        let watch = Task {
            if (try? await Task.sleep(for: limit)) != nil { finish(false) }
        }
        defer { watch.cancel() }
        return await result()
    }
}
