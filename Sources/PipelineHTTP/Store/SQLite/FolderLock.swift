import LibC
import Pipeline

/// A lock on a cache folder among all threads and processes that use it. It is released with this object, and with its
/// process.
///
/// A writer of a body shares it until the body's row is committed. So while the lock is held exclusively, every body
/// without a row is a dead process's.
final class FolderLock: Sendable {
    enum Kind { case shared, alone }

    /// How long to wait for a lock. Its holders need milliseconds; a stopped process may hold it forever.
    static let patience = Duration.seconds(3)

    private let file: Int32

    /// Waits for the lock, in steps of up to 10 ms: a process that is stopped while it holds the lock must not stop
    /// this one. Blocks the calling thread.
    /// - Throws: ``FolderLocked`` if another process keeps the lock; `CancellationError`; `FileError`.
    init(
        _ folder: String, _ kind: Kind, _ cancellation: WorkCancellation? = nil, patience: Duration = patience
    ) throws {
        let file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { throw FileError("open \(folder)") }
        do {
            try Self.lock(file, kind, folder, cancellation, patience)
        } catch {
            close(file)
            throw error
        }
        self.file = file
    }

    deinit {
        // A process that is just being started may still have the descriptor, which would keep the lock.
        flock(file, LOCK_UN)
        close(file)
    }

    private static func lock(
        _ file: Int32, _ kind: Kind, _ folder: String, _ cancellation: WorkCancellation?, _ patience: Duration
    ) throws {
        let clock = SystemClock()
        let deadline = clock.uptime + patience
        var pause: UInt32 = 500
        while flock(file, (kind == .shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0 {
            if errno == EINTR { continue }
            guard errno == EWOULDBLOCK else { throw FileError("flock \(folder)") }
            if cancellation?.isCancelled == true { throw CancellationError() }
            guard clock.uptime < deadline else { throw FolderLocked(folder: folder) }
            usleep(pause)
            pause = min(pause * 2, 10_000)
        }
    }
}

/// Another process keeps the lock of a folder.
struct FolderLocked: Error, CustomStringConvertible {
    let folder: String

    var description: String { "\(folder) is locked" }
}
