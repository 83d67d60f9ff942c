import LibC
import Pipeline

/// A file that is written before it gets its name. Until then it has none, so that the system removes it however the
/// program ends, or a temporary one where the file system has no such files, which only Linux has at all.
struct TemporaryFile {
    let descriptor: Int32
    private let folder: String
    private let name: String?

    /// - Parameters:
    ///   - folder: The folder, with a slash at its end.
    ///   - mode: The rights that the file starts with, less those of the umask.
    ///   - failure: Makes an error of the system's number.
    init(in folder: String, mode: mode_t, _ failure: (Int32) -> LoadError) throws(LoadError) {
        #if LINUX
        // The number below is O_TMPFILE, a combination of flags that Swift doesn't import. The file gets its name
        // through /proc, which isn't mounted everywhere.
        let unnamed =
            access("/proc/self/fd", X_OK) == 0
            ? folder.withPath { open($0, 0o20_000_000 | O_DIRECTORY | O_WRONLY | O_CLOEXEC, mode) } : -1
        #else
        let unnamed: Int32 = -1
        #endif
        self.folder = folder
        name = unnamed < 0 ? TemporaryName.next(in: folder) : nil
        descriptor = name?.withPath { open($0, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode) } ?? unnamed
        guard descriptor >= 0 else { throw failure(errno) }
    }

    /// Gives the file its name, in one step; 0 or the system's error number.
    func appear(as path: String, replacing: Bool) -> Int32 {
        if name == nil || !replacing {
            if link(to: path) {
                discard()
                return 0
            }
            guard errno == EEXIST, replacing else { return errno }
        }
        // What it replaces may be the only copy of a photograph. Without this, some file systems have an empty file there
        // after a power cut.
        if name == nil || FileFacts(path) != nil, fsync(descriptor) != 0 { return errno }
        let temporary = name ?? TemporaryName.next(in: folder)
        guard name != nil || link(to: temporary) else { return errno }
        let number = TemporaryName.rename(temporary, to: path)
        if number != 0 { TemporaryName.remove(temporary) }
        return number
    }

    private func link(to path: String) -> Bool {
        let (own, flags) = name.map { ($0, 0) } ?? ("/proc/self/fd/\(descriptor)", AT_SYMLINK_FOLLOW)
        return own.withPath { own in path.withPath { linkat(AT_FDCWD, own, AT_FDCWD, $0, flags) } } == 0
    }

    /// Removes the temporary name, if there is one.
    func discard() { if let name { TemporaryName.remove(name) } }

    func close() { _ = LibC.close(descriptor) }
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
        name.withPath { name in path.withPath { LibC.rename(name, $0) } } == 0 ? 0 : errno
    }

    /// Removes a file.
    static func remove(_ name: String) { _ = name.withPath { unlink($0) } }

    /// The prefix of a process's temporary names.
    static func prefix(of process: Int32) -> String { ".pipectl-\(process)-" }
}

/// A file whose place another one takes, which keeps its owner, group, mode and extended attributes, such as an access
/// control list.
///
/// The right to run as its owner or group isn't kept: the bytes are new.
struct ReplacedFile {
    private let path: String
    private let status: stat

    /// `nil` if there is no such file.
    init?(_ path: String) {
        var status = stat()
        guard path.withPath({ stat($0, &status) }) == 0 else { return nil }
        (self.path, self.status) = (path, status)
    }

    /// Gives an open file what this one has.
    /// - Returns: Whether the file has the same owner now. Only root can give a file to another user.
    func pass(to descriptor: Int32) -> Bool {
        // First, since a change of the owner changes the mode.
        let keepsOwner = fchown(descriptor, status.st_uid, status.st_gid) == 0
        let keepsGroup = keepsOwner || fchown(descriptor, .max, status.st_gid) == 0
        if keepsGroup {
            fchmod(descriptor, status.st_mode & 0o777)
            passAttributes(to: descriptor)
        } else {
            // Rights of the group would be those of another one.
            let others = status.st_mode & 0o007
            fchmod(descriptor, status.st_mode & (0o707 | others << 3))
        }
        return keepsOwner
    }

    private func passAttributes(to descriptor: Int32) {
        for name in ExtendedAttribute.names(of: path) where ExtendedAttribute.isKept(name) {
            ExtendedAttribute.pass(name, of: path, to: descriptor)
        }
    }
}
