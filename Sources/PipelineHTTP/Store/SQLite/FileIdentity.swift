import Glibc

/// Tells a file from another one that has taken its name.
struct FileIdentity: Sendable, Hashable {
    private let device: dev_t
    private let number: ino_t

    /// The file that stands under a path, a link itself; `nil` if there is none.
    init?(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        device = status.st_dev
        number = status.st_ino
    }
}
