import LibC

/// Reads the source from a file on this machine; other sources pass.
public struct ReadFile: Stage {
    private let threads: BlockingThreads
    private let byteLimit: Int

    package static func specification(byteLimit: Int) -> StageSpecification {
        StageSpecification("readFile", "Reads a source that is a file.", .byteLimit(byteLimit)) {
            ReadFile(byteLimit: $0)
        }
    }

    /// Reads files of at most `byteLimit` bytes, 64 MB by default, on `threads`.
    public init(byteLimit: Int = 64_000_000, threads: BlockingThreads = .files) {
        self.byteLimit = byteLimit
        self.threads = threads
    }

    public var accepts: Phases { .empty }

    /// The file's bytes, or still nothing.
    public var produces: Phases { [.empty, .original] }

    /// The bytes it reads aren't an HTTP response.
    public var leaves: Set<ResponseState.Kind> { [] }

    public var identity: StageIdentity? { StageIdentity("\(byteLimit)", over: [threads]) }

    /// Reads the file.
    /// - Throws: `LoadError` with `fileNotFound`, `fileUnreadable` or `tooManyBytes`.
    public func run(_ load: inout Load) async throws -> Outcome {
        guard case .file(let path) = load.request.source else { return .skipped }
        let limit = byteLimit
        let bytes = try await threads.run(priority: load.priority) { try Self.read(path, limit: limit, $0) }
        load.advance(to: .original(EncodedImage(bytes: bytes)), from: .file)
        return .done
    }

    package static func read(_ path: String, limit: Int, _ cancellation: WorkCancellation) throws -> [UInt8] {
        let expected = try FileStatus(path: path).byteCount
        // Reading from a pipe that nobody writes to would block forever, and so would opening it.
        let file = path.withPath { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        guard file >= 0 else { throw FileStatus.error(path, errno) }
        defer { close(file) }
        // One byte more than expected, so that the end is found without growing. The capacity is limited, since a
        // sparse file may be larger than memory.
        var bytes = try chunk(of: file, path, max(0, min(expected, limit, 256 << 20)) + 1, cancellation)
        // The file grows, or the system reports no length for it.
        while bytes.count <= limit {
            let more = try chunk(of: file, path, 1 << 20, cancellation)
            if more.isEmpty { return bytes }
            bytes += more
        }
        throw LoadError(
            .tooManyBytes, subject: printable(path),
            "The file has more than \(limit) bytes. Raise the limit of source bytes.")
    }

    /// Reads until there are `count` bytes or the file ends.
    private static func chunk(
        of file: Int32, _ path: String, _ count: Int, _ cancellation: WorkCancellation
    ) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                try cancellation.check()
                // Small enough to stop soon after a cancellation.
                let got = LibC.read(file, buffer.baseAddress?.advanced(by: filled), min(count - filled, 4 << 20))
                if got < 0 && errno == EINTR { continue }
                if got < 0 && errno == EAGAIN {
                    var waiting = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
                    poll(&waiting, 1, 20)
                    continue
                }
                guard got >= 0 else { throw FileStatus.error(path, errno) }
                if got == 0 { return }
                filled += got
            }
        }
    }
}

extension StageParameter<Int> {
    /// The most bytes of a source.
    package static func byteLimit(_ standard: Int) -> Self {
        .optional(
            "byteLimit", .bytes, "The most bytes that a source may have.", default: standard, example: "10000000")
    }
}
