import LibC
import Pipeline
import Stages

/// The program's own file descriptors, and files read whole.
enum StandardStream {
    /// Opens standard streams that are closed, so that no file gets their descriptor. Writing to such an output fails.
    static func openMissing() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) < 0 {
            _ = open("/dev/null", O_RDONLY)
        }
    }

    /// Writes all bytes.
    /// - Parameter isCancelled: Whether a write that waits for a reader ends; by default after a signal.
    /// - Returns: 0, or the system's error number.
    static func write(
        _ bytes: [UInt8], to file: Int32, unless isCancelled: () -> Bool = { Interruption.isRequested }
    ) -> Int32 {
        var status = stat()
        let mayWait = fstat(file, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
        var rest = bytes[...]
        while !rest.isEmpty {
            if mayWait {
                var waiting = pollfd(fd: file, events: Int16(POLLOUT), revents: 0)
                while poll(&waiting, 1, 50) == 0 { if isCancelled() { return EINTR } }
            }
            // A pipe that is ready takes this much without waiting.
            let length = mayWait ? min(rest.count, 4096) : rest.count
            let count = rest.withUnsafeBytes { LibC.write(file, $0.baseAddress, length) }
            if count < 0 && (errno == EINTR || errno == EAGAIN) { continue }
            guard count > 0 else { return count < 0 ? errno : EIO }
            rest = rest.dropFirst(count)
        }
        return 0
    }

    /// Reads standard input to its end.
    /// - Throws: `CancellationError` soon after the work was cancelled, whether or not anything more comes.
    static func readInput(limit: Int, _ cancellation: WorkCancellation) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try eachChunk(cancellation, while: { bytes.count <= limit }) { bytes += $0 }
        if bytes.isEmpty {
            Interruption.waitShortly()
            if Interruption.isRequested { throw CancellationError() }
        }
        return bytes
    }

    /// Reads standard input in chunks as they come, to its end or while a condition holds.
    /// - Throws: `CancellationError` soon after the work was cancelled, whether or not anything more comes; any error of
    ///   `body`.
    static func eachChunk(
        _ cancellation: WorkCancellation, while wanted: () -> Bool = { true },
        _ body: (ArraySlice<UInt8>) throws -> Void
    ) throws {
        let number = try read(
            STDIN_FILENO, while: wanted,
            wait: {
                var waiting = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
                repeat { try cancellation.check() } while poll(&waiting, 1, 50) == 0
            }, body)
        guard number == 0 else {
            throw LoadError(
                .fileUnreadable, subject: "standard input", "It can't be read: \(String(cString: strerror(number))).")
        }
    }

    /// The most bytes that are read from a file, since a device may have no end.
    private static let limit = 2_000_000_000

    /// Reads a file, or a pipe to its end; `nil` if it can't be read, with the reason in `errno`.
    /// - Parameter limit: The most bytes; a longer file can't be read.
    /// - Throws: `CancellationError` if a signal ends the program meanwhile.
    static func readFile(_ path: String, limit: Int = limit) throws(CancellationError) -> [UInt8]? {
        // Without O_NONBLOCK, opening a pipe without a writer would wait for ever.
        let file = path.withPath { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        let wait = {
            var waiting = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
            while poll(&waiting, 1, 50) == 0, !Interruption.isRequested {}
        }
        let number = read(file, while: { bytes.count <= limit }, wait: wait) { bytes += $0 }
        // A pipe without data reads as empty after an interruption.
        if Interruption.isRequested { throw CancellationError() }
        guard number == 0, bytes.count <= limit else {
            errno = number == 0 ? EFBIG : number
            return nil
        }
        return bytes
    }

    /// - Returns: 0, or the system's error number.
    private static func read(
        _ file: Int32, while wanted: () -> Bool, wait: () throws -> Void, _ body: (ArraySlice<UInt8>) throws -> Void
    ) rethrows -> Int32 {
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while wanted() {
            try wait()
            let count = LibC.read(file, &chunk, chunk.count)
            if count < 0 {
                let number = errno
                if number == EINTR || (number == EAGAIN && !Interruption.isRequested) { continue }
                return number
            }
            guard count > 0 else { break }
            try body(chunk[..<count])
        }
        return 0
    }
}
