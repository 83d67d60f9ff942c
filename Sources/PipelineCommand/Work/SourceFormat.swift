import Glibc
import Pipeline
import Stages

/// Determines the format of a file on this machine by its bytes.
enum SourceFormat {
    /// Reads a file's first bytes; `nil` if it is not a regular file, can't be read, or isn't an image.
    static func ofFile(_ path: String) -> ImageFormat? {
        guard FileFacts(path)?.kind == .regular else { return nil }
        let file = path.withPath { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        guard file >= 0 else { return nil }
        defer { close(file) }
        var start = [UInt8](repeating: 0, count: 4096)
        let count = read(file, &start, start.count)
        return count > 0 ? Formats.codecs.format(of: Array(start[..<count])) : nil
    }
}
