import Glibc
import Pipeline
import Stages

/// Lists the files of a folder in a fixed order.
enum FolderListing {
    /// A file of a folder, or a folder that can't be read.
    struct Entry {
        /// Relative to the root.
        let path: String
        var error: LoadError?
    }

    /// The names in a folder, sorted by their bytes; `nil` if it can't be read.
    static func names(in folder: String) -> [String]? {
        guard let stream = folder.withPath({ opendir($0) }) else { return nil }
        defer { closedir(stream) }
        var names: [[UInt8]] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            if name != Array(".".utf8), name != Array("..".utf8) { names.append(name) }
        }
        return names.sorted { $0.lexicographicallyPrecedes($1) }.map { String(path: $0) }
    }

    /// Finds the images below a folder: files whose extensions or first bytes say so. Hidden files and folders are left
    /// out, and links to folders are not followed. A folder that can't be read is an entry with an error.
    /// - Parameters:
    ///   - inner: The folder to list, relative to the root.
    ///   - except: A folder to leave out, such as the one for results.
    ///   - found: Called with each image in its turn.
    static func eachImage(
        below root: String, _ inner: String = "", recursive: Bool, except: String?, _ found: (Entry) throws -> Void
    ) rethrows {
        let folder = inner.isEmpty ? root : "\(root)/\(inner)"
        guard let names = names(in: folder) else {
            let error = LoadError(
                .fileUnreadable, subject: printable(folder),
                "The folder can't be read: \(String(cString: strerror(errno))).")
            return try found(Entry(path: inner, error: error))
        }
        for name in names where name.utf8.first != UInt8(ascii: ".") {
            if Interruption.isRequested { return }
            let path = inner.isEmpty ? name : "\(inner)/\(name)"
            let whole = "\(root)/\(path)"
            var status = stat()
            // A file that was removed meanwhile is an image only if its name says so. Its job then reports that it is
            // gone.
            let isThere = whole.withPath { lstat($0, &status) } == 0
            if isThere, status.st_mode & S_IFMT == S_IFDIR {
                let isExcepted = except != nil && FileFacts.resolved(whole) == except
                if recursive, !isExcepted {
                    try eachImage(below: root, path, recursive: recursive, except: except, found)
                }
            } else if !FileFacts.isFolder(whole), isImage(whole) {
                try found(Entry(path: path))
            }
        }
    }

    /// Whether a file's extension or first bytes say that it is an image.
    static func isImage(_ path: String) -> Bool {
        // A file in a known format that isn't enabled is included, and its job reports the error.
        OutputName.fileExtension(of: path).flatMap {
            Formats.codecs.codec(forExtension: $0) ?? ImageCodecs.known.codec(forExtension: $0)
        } != nil || SourceFormat.ofFile(path).flatMap { Formats.codecs.codec(for: $0) } != nil
    }
}
