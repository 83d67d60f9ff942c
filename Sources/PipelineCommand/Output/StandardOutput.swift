import LibC
import Pipeline
import Stages

/// Standard output for lines, which are written at once, and images.
///
/// A closed pipe isn't reported, as in every filter. Any other failure is noted, and the program ends with an error.
enum StandardOutput {
    private static let failure = Lock<Int32>(0)
    /// Keeps lines of several jobs whole.
    private static let writing = Lock(0)

    /// Whether it is a terminal.
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Writes a line. After a failed write nothing more is written.
    static func write(_ line: some CustomStringConvertible) { write(bytes: Array("\(line)\n".utf8)) }

    /// Writes bytes as they are.
    static func write(bytes: [UInt8]) {
        guard failure.withLock({ $0 }) == 0 else { return }
        let number = writing.withLock { _ in StandardStream.write(bytes, to: STDOUT_FILENO) }
        if number != 0 { failure.withLock { $0 = number } }
    }

    /// Writes an image.
    /// - Throws: `LoadError` with `unwritable` unless all of it was written, or the reader closed the pipe;
    ///   `CancellationError` if a signal ended it.
    static func write(image bytes: [UInt8]) throws {
        let number = StandardStream.write(bytes, to: STDOUT_FILENO)
        if number == EINTR { throw CancellationError() }
        if number != 0, number != EPIPE { throw error(number) }
    }

    /// Ends the output: a network's file system may report a failed write only now.
    /// - Returns: The error, from now or earlier; `nil` if all was written or the reader closed the pipe.
    static func close() -> LoadError? {
        var number = failure.withLock { $0 }
        if number == 0, LibC.close(STDOUT_FILENO) != 0 { number = errno }
        // EINTR: a signal ended the write, which has an exit status of its own.
        return [0, EPIPE, EINTR].contains(number) ? nil : error(number)
    }

    private static func error(_ number: Int32) -> LoadError {
        LoadError(
            .unwritable, subject: "standard output", "Writing failed: \(String(cString: strerror(number))).")
    }
}

/// Writes lines to standard output, each whole, on a thread that may wait for a slow reader.
struct OutputLines: Sendable {
    private let threads = BlockingThreads(name: "pipectl-output", count: 1)

    func write(_ line: [UInt8]) async {
        // A cancelled task still has to report that, so the write itself must not be cancelled.
        await Task { _ = try? await threads.run { _ in StandardOutput.write(bytes: line) } }.value
    }
}
