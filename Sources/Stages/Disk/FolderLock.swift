import Glibc

/// A lock on a cache folder among all threads and processes that use it. It ends with this value, and with its process.
///
/// Who writes a body shares it until the body's row is committed. Who holds it alone therefore sees no body without a
/// row but those that a dead process left.
final class FolderLock: Sendable {
    enum Kind { case shared, alone }

    private let file: Int32

    /// Waits for the lock.
    init(_ folder: String, _ kind: Kind) throws(FileError) {
        let file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard file >= 0 else { throw FileError("open \(folder)") }
        var status: Int32
        repeat { status = flock(file, kind == .shared ? LOCK_SH : LOCK_EX) } while status != 0 && errno == EINTR
        guard status == 0 else {
            let error = FileError("flock \(folder)")
            close(file)
            throw error
        }
        self.file = file
    }

    deinit { close(file) }
}
