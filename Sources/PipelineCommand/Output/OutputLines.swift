import Stages

/// Standard output, line by line: each is written whole, on a thread that may wait for a slow reader.
struct OutputLines: Sendable {
    private let threads = BlockingThreads(name: "pipectl-output", count: 1)

    func write(_ line: [UInt8]) async {
        // A task that was cancelled still has to say so: the write itself is not to be cancelled.
        await Task { _ = try? await threads.run { _ in StandardOutput.write(bytes: line) } }.value
    }
}
