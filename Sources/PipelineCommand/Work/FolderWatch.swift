import LibC
import Pipeline

#if LINUX
/// Finds the files of a folder that are complete: closed by their writer, moved there, or linked there. Hidden files
/// and folders are left out, and no link is followed.
///
/// Unchecked: it is made and used on one thread only.
final class FolderWatch: @unchecked Sendable {
    private let root: String
    private let recursive: Bool
    private let descriptor: Int32
    /// The watched folders below the root, by inotify's numbers; the root's path is empty.
    private var folders: [Int32: String] = [:]
    /// The files that were there when a folder was added or events were lost, and those completed since.
    private var found: [String] = []

    private static let events =
        IN_CLOSE_WRITE | IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF

    /// Watches a folder. The first ``next(_:)`` returns the files in it.
    /// - Throws: `LoadError` with `fileUnreadable` if it can't be watched.
    init(_ root: String, recursive: Bool) throws(LoadError) {
        (self.root, self.recursive) = (root, recursive)
        descriptor = inotify_init1(Int32(truncatingIfNeeded: IN_CLOEXEC) | Int32(truncatingIfNeeded: IN_NONBLOCK))
        // The system sends this signal if a writer comes while a lease is held.
        signal(SIGIO, SIG_IGN)
        guard descriptor >= 0 else { throw failure(errno) }
        try add("")
        guard !folders.isEmpty else { throw failure(errno) }
    }

    deinit { close(descriptor) }

    /// Waits until files are complete.
    /// - Parameters:
    ///   - cancellation: Ends the wait.
    ///   - waits: Whether to wait for a file, or return an empty list if none is complete.
    /// - Returns: Their paths relative to the root, each once.
    /// - Throws: `LoadError` with `fileUnreadable` if the folder is gone, or `CancellationError`.
    func next(_ cancellation: WorkCancellation, waits: Bool = true) throws -> [String] {
        while true {
            try readEvents()
            var seen: Set<[UInt8]> = []
            let paths = found.filter { seen.insert(Array($0.utf8)).inserted && isImage($0) }
            found = []
            if !paths.isEmpty || !waits { return paths }
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            repeat { try cancellation.check() } while poll(&waiting, 1, 100) == 0
        }
    }

    /// Handles all events that have arrived.
    private func readEvents() throws(LoadError) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            var rest = buffer[..<count]
            while rest.count >= MemoryLayout<inotify_event>.size {
                let event = rest.withUnsafeBytes { $0.loadUnaligned(as: inotify_event.self) }
                rest = rest.dropFirst(MemoryLayout<inotify_event>.size)
                try take(event, String(path: rest.prefix(Int(event.len)).prefix { $0 != 0 }))
                rest = rest.dropFirst(Int(event.len))
            }
        }
    }

    private func take(_ event: inotify_event, _ name: String) throws(LoadError) {
        func has(_ bits: Int32) -> Bool { event.mask & UInt32(bitPattern: bits) != 0 }
        // Events were lost, so look through all folders again.
        if has(IN_Q_OVERFLOW) { return try add("") }
        guard let folder = folders[event.wd] else { return }
        if has(IN_IGNORED) { folders[event.wd] = nil }
        if has(IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT) {
            if folder.isEmpty { throw failure(ENOENT) }
            return
        }
        guard !name.isEmpty, name.utf8.first != UInt8(ascii: ".") else { return }
        let path = folder.isEmpty ? name : "\(folder)/\(name)"
        switch (has(IN_ISDIR), has(IN_MOVED_FROM)) {
        case (true, true): remove(path)
        case (true, false): if recursive { try add(path) }
        case (false, true): break
        // A created file is complete only if no process writes it, such as one that was linked there.
        case (false, false): if !has(IN_CREATE) || !isBeingWritten(path) { found.append(path) }
        }
    }

    /// Watches a folder and its subfolders, and notes their files. The watch starts first, so that no file is missed.
    private func add(_ folder: String) throws(LoadError) {
        let whole = folder.isEmpty ? root : "\(root)/\(folder)"
        let mask = Self.events | Int32(bitPattern: UInt32(IN_ONLYDIR)) | (folder.isEmpty ? 0 : IN_DONT_FOLLOW)
        let number = whole.withPath { inotify_add_watch(descriptor, $0, UInt32(bitPattern: mask)) }
        guard number >= 0 else {
            if errno == ENOSPC { throw failure(errno) }
            // The folder was removed meanwhile, or is a link.
            return
        }
        folders[number] = folder
        for name in FolderListing.names(in: whole) ?? [] where name.utf8.first != UInt8(ascii: ".") {
            let path = folder.isEmpty ? name : "\(folder)/\(name)"
            switch kind(path) {
            case .folder: if recursive { try add(path) }
            case .regular: if !isBeingWritten(path) { found.append(path) }
            default: break
            }
        }
    }

    /// Forgets a folder that was moved away, and its subfolders.
    private func remove(_ path: String) {
        for (number, folder) in folders where folder == path || folder.hasPrefix(path + "/") {
            inotify_rm_watch(descriptor, number)
            folders[number] = nil
        }
    }

    private func isImage(_ path: String) -> Bool {
        kind(path) == .regular && FolderListing.isImage("\(root)/\(path)")
    }

    private func kind(_ path: String) -> FileFacts.Kind? { FileFacts("\(root)/\(path)", followsLinks: false)?.kind }

    /// Whether a process has the file open for writing, so that no lease for reading is granted. Without leases, as for
    /// other users' files and on network file systems, this can't be known. An empty file counts as being written,
    /// since its writer may not have begun.
    private func isBeingWritten(_ path: String) -> Bool {
        let file = "\(root)/\(path)".withPath { open($0, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) }
        guard file >= 0 else { return false }
        defer { close(file) }
        if FileFacts(open: file)?.size == 0 { return true }
        // F_SETLEASE, which only Linux has.
        return fcntl(file, 1024, Int32(F_RDLCK)) != 0 && errno == EAGAIN
    }

    private func failure(_ number: Int32) -> LoadError {
        let why =
            switch number {
            case ENOSPC, EMFILE: "the system's limit is reached; raise fs.inotify.max_user_watches or _instances"
            case ENOENT: "it has gone"
            default: String(cString: strerror(number))
            }
        return LoadError(.fileUnreadable, subject: printable(root), "The folder can't be watched: \(why).")
    }
}
#else
/// Watching a folder takes inotify and leases of files, which only Linux has.
final class FolderWatch: Sendable {
    /// - Throws: `LoadError` with `refused`.
    init(_ root: String, recursive: Bool) throws(LoadError) {
        throw LoadError(
            .refused, subject: printable(root),
            "Folders can be watched on Linux only. Run \(Program.name) batch --resume whenever files have arrived.")
    }

    func next(_ cancellation: WorkCancellation, waits: Bool = true) throws -> [String] { [] }
}
#endif
