import Pipeline

/// The requests that wait for one host. The first of them waits for the time to come, the others for their place.
final class RateLimitLine: Sendable {
    private struct Place {
        var priority: LoadPriority
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        /// When the next request may be sent.
        var next: Duration = .zero
        var hasFirst = false
        var waiting: [Int: Place] = [:]
        var lastNumber = 0
        /// Whose task was cancelled before they had begun to wait.
        var cancelled: Set<Int> = []

        /// Makes the most urgent, among equals the oldest, the first.
        mutating func advance() -> CheckedContinuation<Void, any Error>? {
            let first = waiting.min { ($1.value.priority, $0.key) < ($0.value.priority, $1.key) }
            hasFirst = first != nil
            return first.flatMap { waiting.removeValue(forKey: $0.key)?.continuation }
        }
    }

    private let state = Lock(State())

    /// Returns when a request may be sent.
    /// - Throws: `CancellationError` at once if the task is cancelled.
    func turn(priority: LoadPriority, interval: Duration, clock: any LoadClock) async throws {
        try await becomeFirst(priority)
        defer { state.withLock { $0.advance() }?.resume() }
        try await clock.sleep(for: state.withLock { $0.next } - clock.uptime)
        let now = clock.uptime
        state.withLock { $0.next = max(now, $0.next) + interval }
    }

    /// Whether somebody waits here, or would have to.
    func isBusy(at now: Duration) -> Bool { state.withInnerLock { $0.hasFirst || $0.next > now } }

    private func becomeFirst(_ priority: LoadPriority) async throws {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        try await AdjustablePriority.following { priority in
            self.state.withLock { $0.waiting[number]?.priority = priority }
        } _: {
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { wait(number, priority, $0) }
            } onCancel: {
                leave(number)
            }
        }
        state.withLock { _ = $0.cancelled.remove(number) }
    }

    private func wait(_ number: Int, _ priority: LoadPriority, _ continuation: CheckedContinuation<Void, any Error>) {
        let result = state.withLock { state -> Result<Void, any Error>? in
            if state.cancelled.remove(number) != nil { return .failure(CancellationError()) }
            guard state.hasFirst else {
                state.hasFirst = true
                return .success(())
            }
            let priority = AdjustablePriority.current?.value ?? priority
            state.waiting[number] = Place(priority: priority, continuation: continuation)
            return nil
        }
        if let result { continuation.resume(with: result) }
    }

    private func leave(_ number: Int) {
        let place = state.withLock { state in
            let place = state.waiting.removeValue(forKey: number)
            if place == nil { state.cancelled.insert(number) }
            return place
        }
        place?.continuation.resume(throwing: CancellationError())
    }
}
