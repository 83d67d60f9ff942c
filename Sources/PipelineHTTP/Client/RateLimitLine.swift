import Pipeline

/// The requests that wait for one host. The first waits until it may be sent, the others for their turn.
final class RateLimitLine: Sendable {
    private struct Turn: SharedResource {
        var isTaken = false
        /// When the next request may be sent.
        var next: Duration = .zero

        mutating func take(_: Void, _: LoadPriority) -> Void? {
            defer { isTaken = true }
            return isTaken ? nil : ()
        }
    }

    private let line = WaitingLine(Turn())

    /// Waits until a request may be sent.
    /// - Throws: `CancellationError` at once if the task is cancelled.
    func turn(priority: LoadPriority, interval: Duration, clock: any LoadClock) async throws {
        try await line.take((), priority: priority)
        defer { line.update { $0.isTaken = false } }
        try await clock.sleep(for: line.read { $0.next } - clock.uptime)
        let now = clock.uptime
        line.update { $0.next = max(now, $0.next) + interval }
    }

    /// Whether a request waits here, or would have to.
    func isBusy(at now: Duration) -> Bool { line.read { $0.isTaken || $0.next > now } }
}
