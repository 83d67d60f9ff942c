import Glibc
import Pipeline
import Stages

/// Records what a batch has written, so that an interrupted batch can continue.
///
/// Before a result gets its name, a line records its key (input, the input's bytes, options, path) and a digest of its
/// bytes. The file itself shows whether it was written, so journal and files can't disagree. A file belongs to the
/// batch only while its bytes match a line. Each line has a digest of itself, since a power cut may leave any part of
/// the last ones.
///
/// Another line records what the system said about the source and the results then. As long as it says the same, and
/// the machine hasn't been started again, no file has to be read to know that a job is done.
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
        var index: JournalIndex
    }

    private let descriptor: Int32
    /// A digest of the options.
    private let options: String
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
            throw .inUse(error("another batch is writing to this output; wait for it, or give each its own --journal"))
        }
        switch JournalLines.begin(file) {
        case 0: break
        case let number:
            close(file)
            let why = number.map { String(cString: strerror($0)) }
            throw .unusable(error(why ?? "it is not a journal; name a file that doesn't exist"))
        }
        var index = JournalIndex()
        var processes: Set<Int32> = []
        var folders: Set<String> = []
        var lines = 0
        func load() {
            index = JournalIndex()
            JournalLines.each(in: file) { line, offset in
                lines += 1
                if line.count == 2, line[0] == "process", let process = Int32(line[1]) { processes.insert(process) }
                if line.count == 3, line[0] == "seen", let job = UInt64(line[1], radix: 16) {
                    index[job]?.seen = UInt64(line[2], radix: 16) ?? 0
                }
                guard let entry = JournalEntry(line) else { return }
                index[entry.origin.number] = JournalIndex.Place(offset: offset)
                for output in entry.outputs where resumes {
                    index.insert(result: Self.result(entry.origin, output.path, output.digest))
                }
                for output in entry.outputs {
                    folders.insert(FileFacts.folder(of: output.path).map { $0 + "/" } ?? "./")
                }
            }
            index.pack()
        }
        load()
        let kept = index.lines
        // Each job has two lines.
        if lines > 4 * kept.count + 1000,
            JournalLines.replace(
                &file, at: path,
                { [file] keep in
                    for (job, place) in kept {
                        guard let line = JournalLines.line(at: place.offset, in: file) else { continue }
                        keep(line)
                        if place.seen != 0 { keep(Self.seen(job, place.seen)) }
                    }
                })
        {
            load()
        }
        descriptor = file
        self.options = "\(options)"
        state = Lock(State(index: index))
        isResuming = resumes
        Self.removeLeftovers(of: processes, in: folders)
        append(["process", "\(getpid())"])
    }

    deinit { close(descriptor) }

    /// The key of a job: its input, the source's bytes if they are in memory, the options, and the result's path.
    func key(of job: Job, _ source: ImageSource) -> Digest {
        var text = "\(origin(job))\n"
        if case .bytes(let bytes) = source { text += "\(Digest(of: bytes))" }
        return Digest(of: text)
    }

    /// Whether a job is done and its files are untouched since, by what the system says about them.
    func isUntouched(_ job: Job) -> Bool {
        guard isResuming, let source = job.file else { return false }
        let origin = origin(job)
        guard let place = state.withLock({ $0.index[origin.number] }), place.seen != 0,
            let entry = entry(at: place), entry.origin == origin
        else { return false }
        return Self.seen(source, entry.outputs.map(\.path)) == place.seen
    }

    /// Whether all results of a key are there, byte for byte.
    /// - Parameter source: The job's file before it was read.
    func isDone(_ key: Digest, _ job: Job, _ source: FileFacts?) -> Bool {
        let origin = origin(job)
        guard isResuming, let place = state.withLock({ $0.index[origin.number] }), let entry = entry(at: place),
            entry.key == key, !entry.outputs.isEmpty
        else { return false }
        let seen = Self.seen(source, entry.outputs.map(\.path))
        guard entry.outputs.allSatisfy({ Self.digest(of: $0.path) == $0.digest }) else { return false }
        keep(seen, origin)
        return true
    }

    /// Records results that are about to be written. If that fails, `--resume` will make them again.
    func willWrite(_ key: Digest, _ job: Job, _ outputs: [(path: String, bytes: [UInt8])]) {
        let origin = origin(job)
        let entry = JournalEntry(
            key: key, origin: origin, outputs: outputs.map { ($0.path, Digest(of: $0.bytes)) })
        guard let offset = append(entry.line) else { return }
        let isDue = state.withLock { state in
            state.index[origin.number] = JournalIndex.Place(offset: offset)
            if isResuming {
                for output in entry.outputs {
                    state.index.insert(result: Self.result(origin, output.path, output.digest))
                }
            }
            state.unsynced = (state.unsynced + 1) % 64
            return state.unsynced == 0
        }
        // Not for each line, but often enough that a power cut costs only the work of moments.
        if isDue { fdatasync(descriptor) }
    }

    /// Records that results were written, and what the system says about their files.
    /// - Parameter source: The job's file before it was read.
    func didWrite(_ job: Job, _ source: FileFacts?, _ paths: [String]) { keep(Self.seen(source, paths), origin(job)) }

    /// Whether an existing file may be replaced: this or an earlier run made its bytes from the same input with the
    /// same options, or they are the bytes to be written now. A file without content, or with zeros alone, as a power cut
    /// can leave it, may be replaced too if the journal has its path for this input.
    func isOwn(_ path: String, _ job: Job, _ bytes: [UInt8]) -> Bool {
        guard isResuming, FileFacts(path)?.kind == .regular, let there = try? StandardStream.readFile(path) else {
            return false
        }
        if there == bytes { return true }
        let origin = origin(job)
        guard there.allSatisfy({ $0 == 0 }) else {
            let result = Self.result(origin, path, Digest(of: there))
            return state.withLock { $0.index.contains(result: result) }
        }
        guard let place = state.withLock({ $0.index[origin.number] }), let entry = entry(at: place) else {
            return false
        }
        return entry.origin == origin && entry.outputs.contains { $0.path.utf8.elementsEqual(path.utf8) }
    }

    /// Makes the journal survive a power cut. Results needn't be synced, since lost ones are noticed.
    func sync() { fdatasync(descriptor) }

    /// Identifies a job: the input, the options and the result's path, whatever the input's bytes are.
    private func origin(_ job: Job) -> Digest {
        let paths = ((try? job.targets.get()) ?? []).compactMap(\.plannedPath)
        return Digest(of: "\(options)\n\(job.input)\n\(paths.joined(separator: "\n"))")
    }

    private func entry(at place: JournalIndex.Place) -> JournalEntry? {
        JournalLines.line(at: place.offset, in: descriptor).flatMap { JournalEntry($0) }
    }

    /// A result of a job, as a number.
    private static func result(_ origin: Digest, _ path: String, _ digest: Digest) -> UInt64 {
        // Numbers of this run alone, which no file's maker can foresee.
        var hasher = Hasher()
        hasher.combine(origin.number)
        hasher.combine(digest.number)
        for byte in path.utf8 { hasher.combine(byte) }
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    /// What the system says about a job's files, as a number; 0 if it can't tell a changed file.
    private static func seen(_ source: FileFacts?, _ paths: [String]) -> UInt64 {
        // A file that has just changed can change again without another time.
        guard let source, let boot, Int(source.changed / 1_000_000_000) < time(nil) - 3 else { return 0 }
        let files = [source] + paths.compactMap { FileFacts($0) }
        guard files.count == paths.count + 1, files.allSatisfy({ $0.kind == .regular }) else { return 0 }
        let texts = files.map { "\($0.identity.device) \($0.identity.node) \($0.size) \($0.modified) \($0.changed)" }
        return Digest(of: ([boot] + texts).joined(separator: "\n")).number
    }

    /// Identifies the time since the machine started. A power cut can leave files with the same times and other bytes.
    private static let boot = (try? StandardStream.readFile("/proc/sys/kernel/random/boot_id"))
        .map { String(decoding: $0, as: UTF8.self) }

    private static func seen(_ job: UInt64, _ number: UInt64) -> [String] {
        ["seen", String(job, radix: 16), String(number, radix: 16)]
    }

    private func keep(_ seen: UInt64, _ origin: Digest) {
        guard seen != 0, append(Self.seen(origin.number, seen)) != nil else { return }
        state.withLock { $0.index[origin.number]?.seen = seen }
    }

    private static func digest(of path: String) -> Digest? {
        guard FileFacts(path)?.kind == .regular else { return nil }
        return (try? StandardStream.readFile(path)).map { Digest(of: $0) }
    }

    /// - Returns: Where the line begins; `nil` if it can't be written.
    @discardableResult
    private func append(_ fields: [String]) -> Int? {
        let line = JournalLines.line(fields)
        let (offset, failure) = state.withLock { state -> (Int?, Int32?) in
            let end = lseek(descriptor, 0, SEEK_END)
            let count = line.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count != line.count else { return (end, nil) }
            let number = count < 0 ? errno : ENOSPC
            // A part of a line would spoil the next one.
            if end >= 0 { ftruncate(descriptor, end) }
            defer { state.hasFailed = true }
            return (nil, state.hasFailed ? nil : number)
        }
        guard let failure else { return offset }
        StandardError.warn(
            "The journal can't be written: \(String(cString: strerror(failure))). --resume will redo the images it doesn't list."
        )
        return nil
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
