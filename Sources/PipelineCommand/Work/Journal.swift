import LibC
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
        var index: JournalIndex
    }

    private let file: JournalFile
    /// A digest of the options.
    private let options: String
    private let state: Lock<State>
    /// Whether results that were written before count as done.
    let isResuming: Bool

    /// Opens the journal at a path, and locks it.
    /// - Parameter options: A digest of everything that affects the results.
    /// - Throws: ``Failure`` if another batch uses it, or it can't be written.
    init(_ path: String, options: BLAKE2bDigest, resumes: Bool) throws(Failure) {
        var file = try JournalFile(path)
        var content = JournalContent(of: file, keepsResults: resumes)
        content.removeLeftovers()
        if let shortened = content.shortened(file) {
            file = shortened
            content = JournalContent(of: file, keepsResults: resumes)
        }
        self.file = file
        self.options = "\(options)"
        state = Lock(State(index: content.index))
        isResuming = resumes
        file.append(["process", "\(getpid())"])
    }

    /// The key of a job: its input, the source's bytes if they are in memory, the options, and the result's path.
    func key(of job: Job, _ source: ImageSource) -> BLAKE2bDigest {
        var text = "\(origin(job))\n"
        if case .bytes(let bytes) = source { text += "\(BLAKE2bDigest(of: bytes))" }
        return BLAKE2bDigest(of: text)
    }

    /// Whether a job is done and its files are untouched since, by what the system says about them.
    func isUntouched(_ job: Job) -> Bool {
        guard isResuming, let source = job.file else { return false }
        let planned = Self.plannedPaths(of: job)
        let origin = origin(job, planned)
        guard let place = state.withLock({ $0.index[origin.number] }), place.seen != 0 else { return false }
        // The number tells one file from another, so the line is only read where results have other paths than planned.
        if !planned.isEmpty, JournalSeen.number(source, planned) == place.seen { return true }
        guard let entry = entry(at: place), entry.origin == origin else { return false }
        let paths = entry.outputs.map(\.path)
        return paths != planned && JournalSeen.number(source, paths) == place.seen
    }

    /// Whether all results of a key are there, byte for byte.
    /// - Parameter source: The job's file before it was read.
    func isDone(_ key: BLAKE2bDigest, _ job: Job, _ source: FileFacts?) -> Bool {
        let origin = origin(job)
        guard isResuming, let place = state.withLock({ $0.index[origin.number] }), let entry = entry(at: place),
            entry.key == key, !entry.outputs.isEmpty
        else { return false }
        let seen = JournalSeen.number(source, entry.outputs.map(\.path))
        guard entry.outputs.allSatisfy({ Self.digest(of: $0.path) == $0.digest }) else { return false }
        keep(seen, origin)
        return true
    }

    /// Records results that are about to be written. If that fails, `--resume` will make them again.
    func willWrite(_ key: BLAKE2bDigest, _ job: Job, _ outputs: [(path: String, bytes: [UInt8])]) {
        let origin = origin(job)
        let entry = JournalEntry(
            key: key, origin: origin, outputs: outputs.map { ($0.path, BLAKE2bDigest(of: $0.bytes)) })
        guard let offset = file.append(entry.line) else { return }
        let isDue = state.withLock { state in
            state.index[origin.number] = JournalIndex.Place(offset: offset)
            if isResuming { for output in entry.outputs { state.index.insert(result: entry.result(output)) } }
            state.unsynced = (state.unsynced + 1) % 64
            return state.unsynced == 0
        }
        // Not for each line, but often enough that a power cut costs only the work of moments.
        if isDue { file.sync() }
    }

    /// Records that results were written, and what the system says about their files.
    /// - Parameter source: The job's file before it was read.
    func didWrite(_ job: Job, _ source: FileFacts?, _ paths: [String]) {
        keep(JournalSeen.number(source, paths), origin(job))
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
        guard there.allSatisfy({ $0 == 0 }) else {
            let result = JournalEntry.result(of: origin, (path, BLAKE2bDigest(of: there)))
            return state.withLock { $0.index.contains(result: result) }
        }
        guard let place = state.withLock({ $0.index[origin.number] }), let entry = entry(at: place) else {
            return false
        }
        return entry.origin == origin && entry.outputs.contains { $0.path.utf8.elementsEqual(path.utf8) }
    }

    /// Makes the journal survive a power cut. Results needn't be synced, since lost ones are noticed.
    func sync() { file.sync() }

    /// Identifies a job: the input, the options and the result's path, whatever the input's bytes are.
    private func origin(_ job: Job) -> BLAKE2bDigest { origin(job, Self.plannedPaths(of: job)) }

    private func origin(_ job: Job, _ planned: [String]) -> BLAKE2bDigest {
        BLAKE2bDigest(of: "\(options)\n\(job.input)\n\(planned.joined(separator: "\n"))")
    }

    private static func plannedPaths(of job: Job) -> [String] {
        ((try? job.targets.get()) ?? []).compactMap(\.plannedPath)
    }

    private func entry(at place: JournalIndex.Place) -> JournalEntry? {
        file.line(at: place.offset).flatMap { JournalEntry($0) }
    }

    private func keep(_ seen: UInt64, _ origin: BLAKE2bDigest) {
        guard seen != 0, file.append(JournalSeen.line(origin.number, seen)) != nil else { return }
        state.withLock { $0.index[origin.number]?.seen = seen }
    }

    private static func digest(of path: String) -> BLAKE2bDigest? {
        guard FileFacts(path)?.kind == .regular else { return nil }
        return (try? StandardStream.readFile(path)).map { BLAKE2bDigest(of: $0) }
    }
}
