import LibC
import Pipeline

/// What the system says about a file.
struct FileFacts: Sendable {
    enum Kind: Sendable { case regular, folder, other }

    /// What tells a file from all others that exist.
    struct Identity: Hashable, Sendable {
        let device: UInt
        let node: UInt
    }

    let kind: Kind
    let isPipe: Bool
    let size: Int
    /// The same for all names of one file.
    let identity: Identity
    /// When it was last written, in nanoseconds since 1970.
    let modified: Int64
    /// When its content or its attributes last changed, in nanoseconds since 1970. No program can set it.
    let changed: Int64

    /// `nil` if there is no file, or none that this process may see.
    /// - Parameter followsLinks: Whether a link stands for its target; else it is of no kind that has a name here.
    init?(_ path: String, followsLinks: Bool = true) {
        var status = stat()
        guard path.withPath({ followsLinks ? stat($0, &status) : lstat($0, &status) }) == 0 else { return nil }
        self.init(status)
    }

    /// `nil` if the file isn't open.
    init?(open descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat) {
        switch status.st_mode & S_IFMT {
        case S_IFREG: kind = .regular
        case S_IFDIR: kind = .folder
        default: kind = .other
        }
        isPipe = status.st_mode & S_IFMT == S_IFIFO
        size = Int(status.st_size)
        identity = Identity(device: UInt(truncatingIfNeeded: status.st_dev), node: UInt(status.st_ino))
        modified = Self.nanoseconds(status.modified)
        changed = Self.nanoseconds(status.changed)
    }

    /// A file system may report any number.
    private static func nanoseconds(_ time: timespec) -> Int64 {
        let seconds = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        let sum = seconds.partialValue.addingReportingOverflow(Int64(time.tv_nsec))
        return seconds.overflow || sum.overflow ? (time.tv_sec < 0 ? .min : .max) : sum.partialValue
    }

    static func isFolder(_ path: String) -> Bool { FileFacts(path)?.kind == .folder }

    /// The path without links and dots; `nil` if it names nothing.
    static func resolved(_ path: String) -> String? {
        guard let real = path.withPath({ realpath($0, nil) }) else { return nil }
        defer { free(real) }
        return String(path: real)
    }

    /// Makes a folder and its parents.
    /// - Returns: 0 if it is there now, or the system's error number.
    static func makeFolder(_ path: String) -> Int32 {
        if path.isEmpty { return 0 }
        if let facts = FileFacts(path) { return facts.kind == .folder ? 0 : ENOTDIR }
        if let above = folder(of: path), above != path {
            let number = makeFolder(above)
            guard number == 0 else { return number }
        }
        // Another job may make the folder at the same time.
        return path.withPath { mkdir($0, 0o777) } == 0 || isFolder(path) ? 0 : errno
    }

    /// Why no file can be made in a folder, which need not exist yet; `nil` if one can.
    static func obstacle(toWritingIn path: String) -> String? {
        let path = path.isEmpty ? "." : path
        guard let facts = FileFacts(path) else {
            // The folder doesn't exist, or this process may not see it.
            if errno != ENOENT { return String(cString: strerror(errno)) }
            guard let above = folder(of: path), above != path else { return obstacle(toWritingIn: ".") }
            return obstacle(toWritingIn: above)
        }
        guard facts.kind == .folder else { return "\(printable(path)) is not a folder" }
        return path.withPath { access($0, W_OK | X_OK) } == 0 ? nil : String(cString: strerror(errno))
    }

    /// The error for a folder in which no file can be made.
    static func unwritable(_ folder: String, _ obstacle: String) -> LoadError {
        LoadError(.unwritable, subject: printable(folder), "Nothing can be written here: \(obstacle).")
    }

    /// The folder that a path lies in, without the slash after it; `nil` if it names none.
    static func folder(of path: String) -> String? {
        var bytes = Substring(path).utf8
        while bytes.last == UInt8(ascii: "/"), bytes.count > 1 { bytes.removeLast() }
        guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        return slash == bytes.startIndex ? "/" : String(Substring(bytes[..<slash]))
    }
}
