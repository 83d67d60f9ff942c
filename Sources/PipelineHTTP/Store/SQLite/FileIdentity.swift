import LibC

/// Identifies a file, even if another one takes its name.
struct FileIdentity: Sendable, Hashable {
    private let device: dev_t
    private let number: ino_t

    /// Identifies the file at a path, without following a link; `nil` if there is none.
    init?(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        device = status.st_dev
        number = status.st_ino
    }
}
