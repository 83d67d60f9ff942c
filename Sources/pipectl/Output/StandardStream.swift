import Glibc
import Stages

/// The program's own file descriptors, and files read whole.
enum StandardStream {
    /// Writes all bytes; a reader that has gone away ends it silently, as every filter does.
    static func write(_ bytes: [UInt8], to file: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Reads standard input to its end.
    /// - Throws: `CancellationError` soon after the work was cancelled, whether or not anything more comes.
    static func readInput(limit: Int, _ cancellation: WorkCancellation) throws -> [UInt8] {
        try read(STDIN_FILENO, limit: limit) {
            var waiting = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            repeat { try cancellation.check() } while poll(&waiting, 1, 50) == 0
        }
    }

    /// Reads a file, or a pipe to its end; `nil` if it can't be read.
    static func readFile(_ path: String) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        return read(file, limit: .max) {}
    }

    /// Reads an open file from its start; `nil` if it can't be read.
    static func readAll(_ file: Int32) -> [UInt8]? {
        guard lseek(file, 0, SEEK_SET) == 0 else { return nil }
        return read(file, limit: .max) {}
    }

    private static func read(_ file: Int32, limit: Int, wait: () throws -> Void) rethrows -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count <= limit {
            try wait()
            let count = Glibc.read(file, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        return bytes
    }
}
