import LibC

/// The names in a folder.
enum FolderListing {
    /// Returns the names of everything in a folder, hidden names included; `nil` if it can't be read.
    static func names(in folder: String) -> [String]? {
        guard let entries = opendir(folder) else { return nil }
        defer { closedir(entries) }
        var names: [String] = []
        while let entry = readdir(entries) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }
}
