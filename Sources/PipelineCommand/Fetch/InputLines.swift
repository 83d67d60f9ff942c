import Glibc
import Stages

/// Reads the lines of standard input as they come, on a thread that may block for ever.
enum InputLines {
    /// A line, or a mark for one that is too long to be kept.
    enum Line: Sendable { case line([UInt8]), tooLong }

    /// More than the largest body in base64.
    static let longest = 128 << 20

    /// Starts reading. The stream ends with the input, or when its reader is cancelled; the thread then stays where it
    /// is and ends with the program.
    static func read() -> AsyncStream<Line> {
        let (lines, continuation) = AsyncStream.makeStream(of: Line.self)
        let threads = BlockingThreads(name: "pipectl-input", count: 1)
        Task {
            _ = try? await threads.run { _ in pump(continuation) }
            continuation.finish()
        }
        return lines
    }

    private static func pump(_ continuation: AsyncStream<Line>.Continuation) {
        var rest: [UInt8] = []
        var isSkipping = false
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(STDIN_FILENO, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { break }
            var new = chunk[..<count]
            while let end = new.firstIndex(of: UInt8(ascii: "\n")) {
                rest += new[..<end]
                continuation.yield(isSkipping ? .tooLong : .line(rest))
                rest = []
                isSkipping = false
                new = new[(end + 1)...]
            }
            if !isSkipping { rest += new }
            if rest.count > longest {
                rest = []
                isSkipping = true
            }
        }
        if isSkipping { continuation.yield(.tooLong) } else if !rest.isEmpty { continuation.yield(.line(rest)) }
    }
}
