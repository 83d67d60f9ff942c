import Glibc
import Pipeline
import Stages

/// What lies in a folder, in a fixed order.
enum FolderListing {
    /// The names in a folder, sorted; `nil` if it can't be read.
    static func names(in folder: String) -> [String]? {
        guard let stream = opendir(folder) else { return nil }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
    }

    /// The images below a folder, by their extensions, as paths relative to it. Hidden files and folders are left out,
    /// and links to folders are not followed.
    /// - Parameter except: a folder that is left out, such as where results go.
    static func images(below root: String, recursive: Bool, except: String?) throws(LoadError) -> [String] {
        var found: [String] = []
        try collect(root, "", recursive, except, &found)
        return found
    }

    private static func collect(
        _ root: String, _ inner: String, _ recursive: Bool, _ except: String?, _ found: inout [String]
    ) throws(LoadError) {
        let folder = inner.isEmpty ? root : "\(root)/\(inner)"
        guard let names = names(in: folder) else {
            throw LoadError(
                .fileUnreadable, subject: printable(folder),
                "The folder can't be read: \(String(cString: strerror(errno))).")
        }
        for name in names where name.first != "." {
            let path = inner.isEmpty ? name : "\(inner)/\(name)"
            var status = stat()
            guard lstat("\(root)/\(path)", &status) == 0 else { continue }
            if status.st_mode & S_IFMT == S_IFDIR {
                let isExcepted = except != nil && FileFacts.resolved("\(root)/\(path)") == except
                if recursive, !isExcepted { try collect(root, path, recursive, except, &found) }
            } else if OutputName.fileExtension(of: name).flatMap({ ImageFormat(fileExtension: $0) }) != nil {
                found.append(path)
            }
        }
    }
}
