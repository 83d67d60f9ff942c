import LibC
import Pipeline

/// The file of a journal, open and locked: a header, then lines.
final class JournalFile: Sendable {
    /// The first line of each journal, so that no other file is taken for one.
    private static let header = Array("# pipectl journal 1\n".utf8)

    private let path: String
    private let descriptor: Int32
    /// Whether a line couldn't be written. Its lock keeps lines apart.
    private let hasFailed = Lock(false)

    /// Opens the file at a path, or makes it, and locks it.
    /// - Throws: ``Journal/Failure`` if another batch uses it, it is not a journal, or it can't be written.
    init(_ path: String) throws(Journal.Failure) {
        func error(_ why: String) -> LoadError {
            LoadError(.unwritable, subject: printable(path), "The journal of the batch can't be used: \(why).")
        }
        func error(_ number: Int32) -> LoadError { error(String(cString: strerror(number))) }
        if let folder = FileFacts.folder(of: path) {
            let number = FileFacts.makeFolder(folder)
            guard number == 0 else { throw .unusable(error(number)) }
        }
        self.path = path
        descriptor = path.withPath { open($0, O_RDWR | O_CREAT | O_CLOEXEC | O_APPEND | O_NOFOLLOW, 0o600) }
        guard descriptor >= 0 else { throw .unusable(error(errno)) }
        // A device could be read for ever.
        guard FileFacts(path)?.kind == .regular else { throw .unusable(error("it is not a regular file")) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            guard errno == EWOULDBLOCK else { throw .unusable(error(errno)) }
            throw .inUse(error(Self.inUse))
        }
        // Another batch may have replaced the file since it was opened.
        guard isNamed else { throw .inUse(error(Self.inUse)) }
        switch begin() {
        case 0: break
        case let number?: throw .unusable(error(number))
        case nil: throw .unusable(error("it is not a journal; name a file that doesn't exist"))
        }
        endLastLine()
    }

    private static let inUse =
        "another batch is writing to this output; wait for it, or give each its own --journal"

    private init(_ path: String, _ descriptor: Int32) { (self.path, self.descriptor) = (path, descriptor) }

    deinit {
        // A process that is just being started may still have the descriptor, which would keep the lock.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Whether the path still names the open file.
    private var isNamed: Bool { FileFacts(path).map { $0.identity == FileFacts(open: descriptor)?.identity } ?? false }

    /// Writes the header into an empty file.
    /// - Returns: 0, or the error number of the system; `nil` if the file is not a journal.
    private func begin() -> Int32? {
        var start = [UInt8](repeating: 0, count: 4096)
        let count = pread(descriptor, &start, start.count, 0)
        guard count >= 0 else { return errno }
        let content = start.prefix(count)
        if content.starts(with: Self.header) { return 0 }
        // Journals of version 0.1 have no header. A full disk leaves a part of it.
        let end = content.firstIndex(of: UInt8(ascii: "\n"))
        if let end, JournalLine.fields(of: content[..<end]) != nil { return 0 }
        guard Self.header.starts(with: content) else { return nil }
        guard ftruncate(descriptor, 0) == 0 else { return errno }
        let number = StandardStream.write(Self.header, to: descriptor)
        return number == 0 && syncContent(descriptor) != 0 ? errno : number
    }

    /// Ends a last line that a power cut has cut, which would spoil the next one.
    private func endLastLine() {
        let end = lseek(descriptor, 0, SEEK_END)
        var last = UInt8(ascii: "\n")
        guard end > 0, pread(descriptor, &last, 1, end - 1) == 1, last != UInt8(ascii: "\n") else { return }
        _ = StandardStream.write([UInt8(ascii: "\n")], to: descriptor)
    }

    /// Reads all lines; damaged ones are left out.
    /// - Parameter body: Called with each line and where it begins.
    func each(_ body: (_ fields: [String], _ offset: Int) -> Void) {
        var rest: [UInt8] = []
        var (offset, start) = (0, 0)
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = pread(descriptor, &chunk, chunk.count, off_t(offset)),
            count > 0 || count < 0 && errno == EINTR
        {
            guard count > 0 else { continue }
            offset += count
            var new = chunk[..<count]
            while let end = new.firstIndex(of: UInt8(ascii: "\n")) {
                rest += new[..<end]
                if let fields = JournalLine.fields(of: rest[...]) { body(fields, start) }
                start += rest.count + 1
                rest.removeAll(keepingCapacity: true)
                new = new[(end + 1)...]
            }
            rest += new
        }
    }

    /// Reads the line that begins at a place; `nil` if there is none.
    func line(at offset: Int) -> [String]? {
        var chunk = [UInt8](repeating: 0, count: 1 << 10)
        while true {
            let count = pread(descriptor, &chunk, chunk.count, off_t(offset))
            guard count > 0 else { return nil }
            if let end = chunk[..<count].firstIndex(of: UInt8(ascii: "\n")) {
                return JournalLine.fields(of: chunk[..<end])
            }
            guard count == chunk.count else { return nil }
            chunk = [UInt8](repeating: 0, count: chunk.count * 4)
        }
    }

    /// Writes a line. Warns once if lines can't be written.
    /// - Returns: Where the line begins; `nil` if it can't be written.
    @discardableResult
    func append(_ fields: [String]) -> Int? {
        let line = JournalLine.bytes(of: fields)
        let (offset, failure) = hasFailed.withLock { hasFailed -> (Int?, Int32?) in
            let end = lseek(descriptor, 0, SEEK_END)
            let count = line.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count != line.count else { return (Int(end), nil) }
            let number = count < 0 ? errno : ENOSPC
            // A part of a line would spoil the next one.
            if end >= 0 { ftruncate(descriptor, end) }
            defer { hasFailed = true }
            return (nil, hasFailed ? nil : number)
        }
        guard let failure else { return offset }
        StandardError.warn(
            "The journal can't be written: \(String(cString: strerror(failure))). --resume will redo the images it doesn't list."
        )
        return nil
    }

    /// Makes the lines survive a power cut.
    func sync() { syncContent(descriptor) }

    /// Replaces the file by one with only some of its lines.
    /// - Parameter lines: Calls its argument with each line to keep.
    /// - Returns: The new file; `nil`, with the old one as it was, if that fails.
    func replaced(by lines: (([String]) -> Void) -> Void) -> JournalFile? {
        let temporary = path + ".new"
        let descriptor = temporary.withPath { open($0, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_APPEND, 0o600) }
        guard descriptor >= 0 else { return nil }
        let file = JournalFile(path, descriptor)
        var bytes = Self.header
        var number: Int32 = flock(descriptor, LOCK_EX | LOCK_NB) == 0 ? 0 : errno
        func write() {
            if number == 0 { number = StandardStream.write(bytes, to: descriptor) }
            bytes.removeAll(keepingCapacity: true)
        }
        lines { fields in
            bytes += JournalLine.bytes(of: fields)
            if bytes.count > 1 << 16 { write() }
        }
        write()
        guard number == 0, syncContent(descriptor) == 0, TemporaryName.rename(temporary, to: path) == 0 else {
            TemporaryName.remove(temporary)
            return nil
        }
        return file
    }
}
