import Glibc
import Pipeline
import Stages

/// Records what a batch has written, so that an interrupted batch can continue.
///
/// Before a result gets its name, a line records its key (input, the input's bytes, options), its path and a digest of
/// its bytes. The file itself shows whether it was written, so journal and files can't disagree. A file belongs to the
/// batch only while its bytes match a line. Each line has a digest of itself, since a power cut may leave any part of
/// the last ones.
final class Journal: Sendable {
    /// Why a journal can't be used.
    enum Failure: Error {
        /// Another batch uses it.
        case inUse(LoadError)
        case unusable(LoadError)

        var error: LoadError {
            switch self {
            case .inUse(let error), .unusable(let error): error
            }
        }
    }

    private struct State {
        var unsynced = 0
        var hasFailed = false
        var done: [Digest: JournalEntry]
        var own: Set<JournalOutput>
    }

    private let descriptor: Int32
    private let options: Digest
    private let state: Lock<State>
    /// Whether results that were written before count as done.
    let isResuming: Bool

    /// Opens the journal at a path, and locks it.
    /// - Parameter options: A digest of everything that affects the results.
    /// - Throws: ``Failure`` if another batch uses it, or it can't be written.
    init(_ path: String, options: Digest, resumes: Bool) throws(Failure) {
        func error(_ why: String) -> LoadError {
            LoadError(.unwritable, subject: printable(path), "The journal of the batch can't be used: \(why).")
        }
        if let folder = FileFacts.folder(of: path) {
            let number = FileFacts.makeFolder(folder)
            guard number == 0 else { throw .unusable(error(String(cString: strerror(number)))) }
        }
        var file = path.withPath { open($0, O_RDWR | O_CREAT | O_CLOEXEC | O_APPEND | O_NOFOLLOW, 0o600) }
        guard file >= 0 else { throw .unusable(error(String(cString: strerror(errno)))) }
        // A device could be read for ever.
        guard FileFacts(path)?.kind == .regular else {
            close(file)
            throw .unusable(error("it is not a regular file"))
        }
        guard flock(file, LOCK_EX | LOCK_NB) == 0, JournalLines.isOpen(file, at: path) else {
            let number = errno
            close(file)
            guard number == EWOULDBLOCK || number == 0 else {
                throw .unusable(error(String(cString: strerror(number))))
            }
            throw .inUse(error("another batch with the same output is running; give it --journal FILE of its own"))
        }
        switch JournalLines.begin(file) {
        case 0: break
        case let number:
            close(file)
            let why = number.map { String(cString: strerror($0)) }
            throw .unusable(error(why ?? "it is not a journal; name a file that doesn't exist"))
        }
        var done: [Digest: JournalEntry] = [:]
        var own: Set<JournalOutput> = []
        var processes: Set<Int32> = []
        var folders: Set<String> = []
        for line in JournalLines.all(in: file) {
            if line.count == 2, line[0] == "process", let process = Int32(line[1]) { processes.insert(process) }
            guard let entry = JournalEntry(line) else { continue }
            done[entry.key] = entry
            own.formUnion(entry.outputs)
            for output in entry.outputs { folders.insert(FileFacts.folder(of: output.path).map { $0 + "/" } ?? "./") }
        }
        JournalLines.compact(&file, at: path, to: done.values.map(\.line))
        descriptor = file
        self.options = options
        state = Lock(State(done: done, own: own))
        isResuming = resumes
        Self.removeLeftovers(of: processes, in: folders)
        append(["process", "\(getpid())"])
    }

    deinit { close(descriptor) }

    /// The key of a job: its input, the source's bytes if they are in memory, and the options.
    func key(of job: Job, _ source: ImageSource) -> Digest {
        var text = "\(options)\n\(job.input)\n"
        if case .bytes(let bytes) = source { text += "\(Digest(of: bytes))" }
        return Digest(of: text)
    }

    /// Whether all results of a key are there, byte for byte.
    func isDone(_ key: Digest) -> Bool {
        guard let outputs = state.withLock({ $0.done[key]?.outputs }), !outputs.isEmpty else { return false }
        return outputs.allSatisfy { Self.digest(of: $0.path) == $0.digest }
    }

    /// Records results that are about to be written. If that fails, `--resume` will make them again.
    func willWrite(_ key: Digest, _ job: Job, _ outputs: [(path: String, bytes: [UInt8])]) {
        let origin = origin(job)
        let entry = JournalEntry(
            key: key,
            outputs: outputs.map { JournalOutput(origin: origin, path: $0.path, digest: Digest(of: $0.bytes)) })
        append(entry.line)
        state.withLock { state in
            state.done[key] = entry
            state.own.formUnion(entry.outputs)
        }
        // Not for each line, but often enough that a power cut costs only the work of moments.
        let isDue = state.withLock { state in
            state.unsynced = (state.unsynced + 1) % 64
            return state.unsynced == 0
        }
        if isDue { fdatasync(descriptor) }
    }

    /// Whether an existing file may be replaced: this or an earlier run made its bytes from the same input with the
    /// same options, or they are the bytes to be written now. A file without content, or with zeros alone, as a power cut
    /// can leave it, may be replaced too if the journal has its path for this input.
    func isOwn(_ path: String, _ job: Job, _ bytes: [UInt8]) -> Bool {
        guard isResuming, FileFacts(path)?.kind == .regular, let there = try? StandardStream.readFile(path) else {
            return false
        }
        if there == bytes { return true }
        let origin = origin(job)
        let output = JournalOutput(origin: origin, path: path, digest: Digest(of: there))
        return state.withLock { state in
            guard there.allSatisfy({ $0 == 0 }) else { return state.own.contains(output) }
            return state.own.contains { $0.origin == origin && $0.path.utf8.elementsEqual(path.utf8) }
        }
    }

    /// Makes the journal survive a power cut. Results needn't be synced, since lost ones are noticed.
    func sync() { fdatasync(descriptor) }

    /// Identifies the input and the options of a result, whatever the input's bytes are.
    private func origin(_ job: Job) -> Digest { Digest(of: "\(options)\n\(job.input)") }

    private static func digest(of path: String) -> Digest? {
        guard FileFacts(path)?.kind == .regular else { return nil }
        return (try? StandardStream.readFile(path)).map { Digest(of: $0) }
    }

    private func append(_ fields: [String]) {
        let line = JournalLines.line(fields)
        let failure: Int32? = state.withLock { state in
            let end = lseek(descriptor, 0, SEEK_END)
            let count = line.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count != line.count else { return nil }
            let number = count < 0 ? errno : ENOSPC
            // A part of a line would spoil the next one.
            if end >= 0 { ftruncate(descriptor, end) }
            defer { state.hasFailed = true }
            return state.hasFailed ? nil : number
        }
        guard let failure else { return }
        StandardError.warn(
            "The journal can't be written: \(String(cString: strerror(failure))). --resume will make again what isn't in it."
        )
    }

    /// Removes the temporary files of killed runs.
    private static func removeLeftovers(of processes: Set<Int32>, in folders: Set<String>) {
        // A running process with the same number is another one, and may need its files.
        let ended = processes.filter { $0 != getpid() && kill($0, 0) != 0 && errno == ESRCH }.map(TemporaryName.prefix)
        guard !ended.isEmpty else { return }
        for folder in folders {
            for name in FolderListing.names(in: folder) ?? [] where ended.contains(where: { name.hasPrefix($0) }) {
                TemporaryName.remove(folder + name)
            }
        }
    }
}
