import Glibc
import Pipeline

/// A file that is there whole or not at all: written beside under a temporary name, then renamed.
struct OutputFile {
    private let path: String

    init(_ path: String) { self.path = path }

    /// - Throws: `LoadError` with `unwritable` and the system's reason if the file can't be written.
    func write(_ bytes: [UInt8]) throws {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "./"
        var template = Array((folder + ".pipectl-XXXXXX").utf8CString)
        let file = mkstemp(&template)
        guard file >= 0 else { throw failure(errno) }
        let temporary = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        do {
            defer { close(file) }
            try writeAll(bytes, to: file)
            // mkstemp makes files for the owner alone; an image is for whoever the user's mask admits.
            let mask = umask(0)
            umask(mask)
            fchmod(file, 0o666 & ~mask)
            guard rename(temporary, path) == 0 else { throw failure(errno) }
        } catch {
            unlink(temporary)
            throw error
        }
    }

    private func writeAll(_ bytes: [UInt8], to file: Int32) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw failure(errno) }
            rest = rest.dropFirst(count)
        }
    }

    private func failure(_ number: Int32) -> LoadError {
        LoadError(.unwritable, subject: path, "The file can't be written: \(String(cString: strerror(number))).")
    }
}
