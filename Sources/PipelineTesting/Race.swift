import Pipeline

/// Tells which of two events came first.
final class Race: Sendable {
    private let waiter = Waiter<Bool>()

    /// Notes an event. Only the first one counts.
    func finish(_ result: Bool) { waiter.resume(with: .success(result)) }

    /// Waits for the first event and returns its value. Call it only once.
    func result() async -> Bool { (try? await waiter.value()) ?? false }

    /// Waits for the first event and returns its value, or `false` once the limit is over. Call it only once.
    @discardableResult
    func result(within limit: Duration) async -> Bool {
        let watch = Task {
            if (try? await Task.sleep(for: limit)) != nil { finish(false) }
        }
        defer { watch.cancel() }
        return await result()
    }
}
