import LibC

/// Reads the source from a file on this machine; other sources pass.
public struct ReadFile: Stage {
    private let threads: BlockingThreads
    private let byteLimit: Int
    private let folder: String?

    package static func specification(byteLimit: Int) -> StageSpecification {
        StageSpecification("readFile", "Reads a source that is a file.", .byteLimit(byteLimit)) {
            ReadFile(byteLimit: $0)
        }
    }

    /// Makes the stage.
    /// - Parameters:
    ///   - byteLimit: The most bytes of a file; 64 MB by default.
    ///   - folder: The folder that a file has to be in after every symbolic link is followed, for a program that takes
    ///     names from others. It is compared with the file that was opened, so that none can be put in its place
    ///     meanwhile. Any file, with `nil`, the default.
    ///   - threads: Where files are read.
    public init(byteLimit: Int = 64_000_000, within folder: String? = nil, threads: BlockingThreads = .files) {
        self.byteLimit = byteLimit
        self.folder = folder
        self.threads = threads
    }

    public var accepts: Phases { .empty }

    /// The file's bytes, or still nothing.
    public var produces: Phases { [.empty, .original] }

    /// The bytes it reads aren't an HTTP response.
    public var leaves: Set<ResponseState.Kind> { [] }

    public var identity: StageIdentity? { StageIdentity("\(byteLimit), \(folder ?? "")", over: [threads]) }

    /// Reads the file.
    /// - Throws: `LoadError` with `fileNotFound`, `fileUnreadable` or `tooManyBytes`; `busy` if the program can open no
    ///   more files; `refused` for one outside of the folder.
    public func run(_ load: inout Load) async throws -> Outcome {
        guard case .file(let path) = load.request.source else { return .skipped }
        let (limit, folder) = (byteLimit, folder)
        let bytes = try await threads.run(priority: load.priority) {
            try Self.read(path, limit: limit, within: folder, $0)
        }
        load.advance(to: .original(EncodedImage(bytes: bytes)), from: .file)
        return .done
    }

    package static func read(
        _ path: String, limit: Int, within folder: String? = nil, _ cancellation: WorkCancellation
    ) throws -> [UInt8] {
        let expected = try FileStatus(path: path).byteCount
        // Reading from a pipe that nobody writes to would block forever, and so would opening it.
        let file = path.withPath { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        guard file >= 0 else { throw FileStatus.error(path, errno) }
        defer { close(file) }
        if let folder { try check(file, path, isWithin: folder) }
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

    /// Compares the path of an open file with that of the folder, neither of which has a symbolic link any more.
    private static func check(_ file: Int32, _ path: String, isWithin folder: String) throws(LoadError) {
        #if os(Linux) || os(Android)
        let opened = realPath("/proc/self/fd/\(file)")
        #else
        // Systems without /proc: another program may put a link in the file's place after this look.
        let opened = realPath(path)
        #endif
        let slash = UInt8(ascii: "/")
        guard let opened, let root = realPath(folder), opened.starts(with: root.last == slash ? root : root + [slash])
        else {
            throw LoadError(.refused, subject: printable(path), "The file is outside of the folder that may be read.")
        }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw LoadError(.fileUnreadable, subject: printable(path), "This is not a regular file.")
        }
    }

    private static func realPath(_ path: String) -> [UInt8]? {
        guard let resolved = path.withPath({ realpath($0, nil) }) else { return nil }
        defer { free(resolved) }
        return Array(UnsafeRawBufferPointer(start: resolved, count: strlen(resolved)))
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
