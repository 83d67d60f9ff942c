import Pipeline

/// Which of two things came first.
final class Race: Sendable {
    private let waiter = Waiter<Bool>()

    /// Something has come; only the first counts.
    func finish(_ result: Bool) { waiter.resume(with: .success(result)) }

    /// What came first, as soon as something has; to be asked once.
    func result() async -> Bool { (try? await waiter.value()) ?? false }

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
