import Glibc
import Pipeline

/// A file that is written before it gets its name.
protocol TemporaryFile {
    var descriptor: Int32 { get }
    /// Gives the file its name, in one step; 0 or the system's error number.
    func appear(as path: String, replacing: Bool) -> Int32
    /// Removes a file that didn't get its name.
    func discard()
}

extension TemporaryFile {
    func close() { _ = Glibc.close(descriptor) }
}

/// A temporary name with the number of its process, so that files of killed processes can be recognized.
enum TemporaryName {
    private static let count = Lock(0)

    /// Such as `.pipectl-4711-3`.
    static func next(in folder: String) -> String {
        let number = count.withLock { count in
            count += 1
            return count
        }
        return "\(folder)\(prefix(of: getpid()))\(number)"
    }

    /// Renames a file; 0 or the system's error number.
    static func rename(_ name: String, to path: String) -> Int32 {
        name.withPath { name in path.withPath { Glibc.rename(name, $0) } } == 0 ? 0 : errno
    }

    /// Removes a file.
    static func remove(_ name: String) { _ = name.withPath { unlink($0) } }

    /// The prefix of a process's temporary names.
    static func prefix(of process: Int32) -> String { ".pipectl-\(process)-" }
}

/// A file without a name. The system removes it, however the program ends.
struct Unnamed: TemporaryFile {
    let descriptor: Int32
    private let folder: String

    /// - Parameter mode: The rights that the file starts with, less those of the umask.
    /// - Returns: `nil` if the file system has no such files.
    init?(in folder: String, mode: UInt32) {
        // The number below is O_TMPFILE, a combination of flags that Swift doesn't import. The file gets its name
        // through /proc, which isn't mounted everywhere.
        guard access("/proc/self/fd", X_OK) == 0 else { return nil }
        descriptor = folder.withPath { open($0, 0o20_000_000 | O_DIRECTORY | O_WRONLY | O_CLOEXEC, mode) }
        self.folder = folder
        guard descriptor >= 0 else { return nil }
    }

    func appear(as path: String, replacing: Bool) -> Int32 {
        let own = "/proc/self/fd/\(descriptor)"
        func link(to path: String) -> Bool {
            path.withPath { linkat(AT_FDCWD, own, AT_FDCWD, $0, AT_SYMLINK_FOLLOW) } == 0
        }
        if link(to: path) { return 0 }
        guard errno == EEXIST, replacing else { return errno }
        // What it replaces may be the only copy of a photograph. Without this, some file systems have an empty file there
        // after a power cut.
        guard fsync(descriptor) == 0 else { return errno }
        let temporary = TemporaryName.next(in: folder)
        guard link(to: temporary) else { return errno }
        let number = TemporaryName.rename(temporary, to: path)
        if number != 0 { TemporaryName.remove(temporary) }
        return number
    }

    func discard() {}
}

/// A file under a temporary name.
struct Named: TemporaryFile {
    let descriptor: Int32
    private let name: String

    init(in folder: String, mode: UInt32, _ failure: (Int32) -> LoadError) throws(LoadError) {
        name = TemporaryName.next(in: folder)
        descriptor = name.withPath { open($0, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode) }
        guard descriptor >= 0 else { throw failure(errno) }
    }

    func appear(as path: String, replacing: Bool) -> Int32 {
        guard !replacing else {
            if FileFacts(path) != nil, fsync(descriptor) != 0 { return errno }
            return TemporaryName.rename(name, to: path)
        }
        guard name.withPath({ name in path.withPath { link(name, $0) } }) == 0 else { return errno }
        TemporaryName.remove(name)
        return 0
    }

    func discard() { TemporaryName.remove(name) }
}
