import Glibc
import Pipeline
import Stages

/// What a batch has written, so that one that was cut off goes on where it was.
///
/// Before a result gets its name, a line says under which key (input, its bytes, options), where, and with which bytes.
/// Whether that happened shows in the file itself: there is no moment at which the two could disagree. Lines carry a
/// digest of themselves, since a power cut may leave any part of the last ones.
final class Journal: Sendable {
    private struct Output: Hashable {
        let path: String
        let digest: Digest
    }

    private let descriptor: Int32
    private let options: Digest
    private let done: [Digest: [Output]]
    private let known: Set<String>
    private let unsynced = Lock(0)
    /// Whether what was written before counts.
    let isResuming: Bool

    /// Opens the journal at a path, alone.
    /// - Parameter options: everything that changes what is made of a source.
    /// - Throws: `LoadError` if another batch uses it, or it can't be written.
    init(_ path: String, options: Digest, resumes: Bool) throws(LoadError) {
        func failure(_ why: String) -> LoadError {
            LoadError(.unwritable, subject: printable(path), "The journal of the batch can't be used: \(why).")
        }
        if let slash = path.lastIndex(of: "/") { _ = FileFacts.makeFolder(String(path[..<slash])) }
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_APPEND, 0o600)
        guard descriptor >= 0 else { throw failure(String(cString: strerror(errno))) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw failure("another batch with the same output is running; give it --journal FILE of its own")
        }
        if !resumes { ftruncate(descriptor, 0) }
        var done: [Digest: [Output]] = [:]
        var processes: Set<Int32> = []
        for line in Self.lines(descriptor) {
            if line.count == 2, line[0] == "process", let process = Int32(line[1]) { processes.insert(process) }
            guard line.count >= 3, let key = Digest(hex: line[0]), line.count % 2 == 1 else { continue }
            done[key] = stride(from: 1, to: line.count, by: 2).compactMap { index in
                Digest(hex: line[index + 1]).map { Output(path: line[index], digest: $0) }
            }
        }
        self.options = options
        self.done = done
        known = Set(done.values.flatMap { $0.map(\.path) })
        isResuming = resumes
        Self.removeLeftovers(of: processes, in: known)
        append(["process", "\(getpid())"])
    }

    deinit { close(descriptor) }

    /// Where the journal of a batch lies unless one is named: `$XDG_STATE_HOME/pipectl` or `~/.local/state/pipectl`.
    static func standardPath(_ identity: Digest) -> String {
        let state = Environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        return (state ?? (Environment["HOME"] ?? "/tmp") + "/.local/state") + "/pipectl/\(identity).journal"
    }

    /// The key of a job: its input, the source's bytes where it has any at hand, and the options.
    func key(of job: Job, _ source: ImageSource) -> Digest {
        var text = "\(options)\n\(job.input)\n"
        if case .bytes(let bytes) = source { text += "\(Digest(of: bytes))" }
        return Digest(of: text)
    }

    /// Whether all results of a key are there, byte for byte.
    func isDone(_ key: Digest) -> Bool {
        guard let outputs = done[key], !outputs.isEmpty else { return false }
        return outputs.allSatisfy { output in
            guard FileFacts(output.path)?.kind == .regular, let bytes = StandardStream.readFile(output.path) else {
                return false
            }
            return Digest(of: bytes) == output.digest
        }
    }

    /// Notes what is about to be written.
    func willWrite(_ key: Digest, _ outputs: [(path: String?, bytes: [UInt8])]) {
        append(["\(key)"] + outputs.flatMap { [$0.path ?? "-", "\(Digest(of: $0.bytes))"] })
        // Every so often, so that a power cut costs the work of moments.
        let isDue = unsynced.withLock { count in
            count = (count + 1) % 64
            return count == 0
        }
        if isDue { fdatasync(descriptor) }
    }

    /// Whether a file that is there may be replaced: an earlier run wrote it, or it is what would be written, or it is
    /// the empty file that a power cut can leave.
    func isOwn(_ path: String, _ bytes: [UInt8]) -> Bool {
        guard isResuming else { return false }
        if known.contains(path) { return true }
        guard let facts = FileFacts(path), facts.kind == .regular else { return false }
        return facts.size == 0 || (facts.size == bytes.count && StandardStream.readFile(path) == bytes)
    }

    /// Makes what was noted survive a power cut. The results need no such care: what was lost of them shows.
    func sync() { fdatasync(descriptor) }

    private func append(_ fields: [String]) {
        let text = fields.map(Self.escaped).joined(separator: "\t")
        let line = Array("\(Digest(of: text).description.prefix(16))\t\(text)\n".utf8)
        // One call, so that a line is there whole or not at all whatever ends this program.
        _ = line.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    }

    private static func lines(_ descriptor: Int32) -> [[String]] {
        let text = String(decoding: StandardStream.readAll(descriptor) ?? [], as: UTF8.self)
        return text.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: "\t", maxSplits: 1)
            guard parts.count == 2, Digest(of: String(parts[1])).description.prefix(16) == parts[0] else { return nil }
            return parts[1].split(separator: "\t", omittingEmptySubsequences: false).map { unescaped($0) }
        }
    }

    /// A path may hold anything but a zero byte.
    private static func escaped(_ text: String) -> String {
        text.replacing("%", with: "%25").replacing("\t", with: "%09").replacing("\n", with: "%0A")
    }

    private static func unescaped(_ text: Substring) -> String {
        String(text).replacing("%0A", with: "\n").replacing("%09", with: "\t").replacing("%25", with: "%")
    }

    /// What runs that were killed left under temporary names.
    private static func removeLeftovers(of processes: Set<Int32>, in paths: Set<String>) {
        guard !processes.isEmpty else { return }
        let folders = Set(paths.map { path in path.lastIndex(of: "/").map { String(path[...$0]) } ?? "./" })
        for folder in folders {
            for name in FolderListing.names(in: folder) ?? [] where name.hasPrefix(".pipectl-") {
                if processes.contains(where: { name.hasPrefix(TemporaryName.prefix(of: $0)) }) { unlink(folder + name) }
            }
        }
    }
}

extension Digest {
    /// Reads back 64 hexadecimal digits.
    fileprivate init?(hex: String) {
        let digits = hex.compactMap(\.hexDigitValue)
        guard digits.count == 64, hex.utf8.count == 64 else { return nil }
        self.init(bytes: stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) })
    }
}
