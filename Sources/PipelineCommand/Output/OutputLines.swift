import Stages

/// Writes lines to standard output, each whole, on a thread that may wait for a slow reader.
struct OutputLines: Sendable {
    private let threads = BlockingThreads(name: "pipectl-output", count: 1)

    func write(_ line: [UInt8]) async {
        // A cancelled task still has to report that, so the write itself must not be cancelled.
        await Task { _ = try? await threads.run { _ in StandardOutput.write(bytes: line) } }.value
    }
}
