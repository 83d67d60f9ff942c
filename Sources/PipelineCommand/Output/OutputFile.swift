import LibC
import Pipeline
import Stages

/// Writes a file that appears whole or not at all: first without a name, or under a temporary one, then under its own.
///
/// A file that it replaces hands on its owner, group and mode, and is gone only once the new one is on the disk.
struct OutputFile {
    /// What may be done to a file that exists.
    enum Existing: Sendable { case replaced, kept }

    private let path: String

    init(_ path: String) { self.path = path }

    /// Writes all bytes, and makes the file's folder.
    /// - Parameter existing: `.kept` never touches a file that exists, not even one that appears meanwhile.
    /// - Throws: `LoadError` with `unwritable` and the system's reason if the file can't be written,
    ///   `CancellationError` if the work is cancelled while a pipe waits for its reader.
    func write(
        _ bytes: [UInt8], existing: Existing = .replaced, _ cancellation: WorkCancellation = WorkCancellation()
    ) throws {
        let status = FileFacts(path)
        switch status?.kind {
        case .folder: throw failure("There is a folder of this name")
        case .other: return try writeInto(bytes, cancellation)
        case .regular where existing == .kept: throw Self.exists(path)
        case .regular, nil: break
        }
        // For a link, its target is replaced, not the link.
        let target = status == nil ? path : FileFacts.resolved(path) ?? path
        let above = FileFacts.folder(of: target)
        if status == nil, let above {
            let number = FileFacts.makeFolder(above)
            guard number == 0 else { throw failure(number) }
        }
        let folder = above.map { $0 == "/" ? $0 : $0 + "/" } ?? "./"
        let replaced = ReplacedFile(target)
        let mode: mode_t = replaced == nil ? 0o666 : 0o600
        let file = try TemporaryFile(in: folder, mode: mode, failure)
        do throws(LoadError) {
            defer { file.close() }
            let number = StandardStream.write(bytes, to: file.descriptor) { false }
            guard number == 0 else { throw failure(number) }
            if replaced?.pass(to: file.descriptor) == false {
                StandardError.warn("\(printable(path)): The file belongs to you now; only root can keep its owner.")
            }
            switch file.appear(as: target, replacing: existing == .replaced) {
            case 0: return
            case EEXIST: throw Self.exists(path)
            case let number: throw failure(number)
            }
        } catch {
            file.discard()
            throw error
        }
    }

    /// Writes all bytes unless the file exists and the rule is to skip it; false if it was.
    func write(
        _ bytes: [UInt8], existing: Existing, _ rule: OverwriteOptions.Rule, _ cancellation: WorkCancellation
    ) throws -> Bool {
        do { try write(bytes, existing: existing, cancellation) } catch let error as LoadError {
            guard error.code == .outputExists, rule == .skip else { throw error }
            return false
        }
        return true
    }

    /// The error for a file that may not be overwritten.
    static func exists(_ path: String) -> LoadError {
        LoadError(
            .outputExists, subject: printable(path),
            "The file exists; give -y to overwrite it, --newer to do so where the source is newer, or -n to leave it.")
    }

    /// The error for a file that isn't as a batch that is resumed wrote it.
    static func differs(_ path: String) -> LoadError {
        LoadError(
            .outputExists, subject: printable(path),
            "The file isn't as this batch wrote it; give -y to write it again, or -n to leave it.")
    }

    /// Writes into a device or pipe. It has no content to lose, and must not be replaced by a file.
    private func writeInto(_ bytes: [UInt8], _ cancellation: WorkCancellation) throws {
        var file = open(O_NONBLOCK)
        // A pipe without a reader may still get one.
        while file < 0, errno == ENXIO, FileFacts(path)?.isPipe == true {
            try cancellation.check()
            poll(nil, 0, 20)
            file = open(O_NONBLOCK)
        }
        guard file >= 0 else { throw failure(errno) }
        defer { close(file) }
        let number = StandardStream.write(bytes, to: file) { cancellation.isCancelled }
        try cancellation.check()
        guard number == 0 else { throw failure(number) }
    }

    private func open(_ flags: Int32) -> Int32 { path.withPath { LibC.open($0, O_WRONLY | O_CLOEXEC | flags) } }

    private func failure(_ number: Int32) -> LoadError {
        let why = String(cString: strerror(number))
        guard [ENOSPC, EDQUOT, EROFS].contains(number) else { return failure(why) }
        return LoadError(.diskFull, subject: printable(path), "The file can't be written: \(why).")
    }

    private func failure(_ why: String) -> LoadError { Self.unwritable(path, why) }

    /// The error for a file that can't be written.
    static func unwritable(_ path: String, _ why: String) -> LoadError {
        LoadError(.unwritable, subject: printable(path), "The file can't be written: \(why).")
    }
}

extension LoadError.Code {
    /// The file exists, and no option allows overwriting it.
    static let outputExists = LoadError.Code(rawValue: "outputExists")
    /// The disk or the user's share of it is full, or it can be read only, so that no other file can be written either.
    static let diskFull = LoadError.Code(rawValue: "diskFull")
}
