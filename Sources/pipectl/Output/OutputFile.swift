import Glibc
import Pipeline

/// A file that is there whole or not at all: written without a name, or under a temporary one, then given its own.
struct OutputFile {
    /// What may become of a file that is there already.
    enum Existing: Sendable { case replaced, kept }

    private let path: String

    init(_ path: String) { self.path = path }

    /// Writes all bytes.
    /// - Parameter existing: `.kept` never touches a file that is there, not even one that appears meanwhile.
    /// - Throws: `LoadError` with `unwritable` and the system's reason if the file can't be written.
    func write(_ bytes: [UInt8], existing: Existing = .replaced) throws(LoadError) {
        let status = FileFacts(path)
        switch status?.kind {
        case .folder: throw failure("There is a folder of this name")
        case .other: return try writeInto(bytes)
        case .regular where existing == .kept: throw Self.exists(path)
        case .regular, nil: break
        }
        // Through a link the file that it names is replaced, not the link.
        let target = status == nil ? path : FileFacts.resolved(path) ?? path
        let folder = target.lastIndex(of: "/").map { String(target[...$0]) } ?? "./"
        let file: any TemporaryFile =
            if let unnamed = Unnamed(in: folder, mode: status?.mode) { unnamed } else {
                try Named(in: folder, mode: status?.mode, failure)
            }
        do throws(LoadError) {
            defer { file.close() }
            try writeAll(bytes, to: file.descriptor)
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

    /// The error for a file that may not be overwritten.
    static func exists(_ path: String) -> LoadError {
        LoadError(
            .outputExists, subject: printable(path),
            "The file exists; give -y to overwrite it, --newer to do so where the source is newer, or -n to leave it.")
    }

    /// Devices and pipes have nothing to lose, and another file in their place would not be what was asked for.
    private func writeInto(_ bytes: [UInt8]) throws(LoadError) {
        let file = open(path, O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { throw failure(errno) }
        defer { close(file) }
        try writeAll(bytes, to: file)
    }

    private func writeAll(_ bytes: [UInt8], to file: Int32) throws(LoadError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw failure(errno) }
            rest = rest.dropFirst(count)
        }
    }

    private func failure(_ number: Int32) -> LoadError { failure(String(cString: strerror(number))) }

    private func failure(_ why: String) -> LoadError {
        LoadError(.unwritable, subject: printable(path), "The file can't be written: \(why).")
    }
}

extension LoadError.Code {
    /// A file is there already, and nobody said that it may be overwritten.
    static let outputExists = LoadError.Code(rawValue: "outputExists")
}
