import Glibc
public import Pipeline

/// Reads the source from a file on this machine; other sources pass.
public struct ReadFile: Stage {
    private let threads: BlockingThreads
    private let byteLimit: Int

    /// Reads files of at most `byteLimit` bytes, 64 MB by default, on `threads`.
    public init(byteLimit: Int = 64_000_000, threads: BlockingThreads = .files) {
        self.byteLimit = byteLimit
        self.threads = threads
    }

    /// Nothing found yet.
    public var accepts: Phases { .empty }

    /// The file's bytes, or still nothing.
    public var produces: Phases { [.empty, .original] }

    /// Reads the file.
    /// - Throws: `LoadError` with `fileNotFound`, `fileUnreadable` or `tooManyBytes`.
    public func run(_ load: inout Load) async throws -> Outcome {
        guard case .file(let path) = load.request.source else { return .skipped }
        let limit = byteLimit
        let bytes = try await threads.run(priority: load.priority) { try Self.read(path, limit: limit, $0) }
        load.advance(to: .original(EncodedImage(bytes: bytes)), from: .file)
        return .done
    }

    private static func read(_ path: String, limit: Int, _ cancellation: WorkCancellation) throws -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw FileStatus.error(path, errno) }
        defer { close(file) }
        let expected = try FileStatus(path: path).byteCount
        var bytes: [UInt8] = []
        bytes.reserveCapacity(min(expected, limit) + 1)
        while true {
            try cancellation.check()
            let old = bytes.count
            let room = max(64 << 10, min(expected - old + 1, 1 << 20))
            bytes.append(contentsOf: repeatElement(0, count: room))
            let count = bytes.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress?.advanced(by: old), room) }
            bytes.removeLast(room - max(0, count))
            if count < 0 && errno != EINTR { throw FileStatus.error(path, errno) }
            guard bytes.count <= limit else {
                throw LoadError(
                    .tooManyBytes, subject: path,
                    "The file has more than \(limit) bytes; raise the limit of ReadFile to read it.")
            }
            if count == 0 { return bytes }
        }
    }
}
