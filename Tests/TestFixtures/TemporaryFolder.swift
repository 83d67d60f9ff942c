import LibC

/// A folder that goes with the test.
package final class TemporaryFolder: Sendable {
    package let path: String

    /// - Parameter inMemory: whether the folder may lie in memory, where the system has a place for that.
    package init(inMemory: Bool = false) throws {
        let parent = inMemory && access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
        var template = Array("\(parent)/pipeline-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw TemporaryFolderError(number: errno) }
        path = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    }

    deinit { Self.remove(path) }

    /// The names of what a folder holds.
    package static func names(_ path: String) -> [String] {
        guard let entries = opendir(path) else { return [] }
        defer { closedir(entries) }
        var names: [String] = []
        while let entry = readdir(entries) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    package static func remove(_ path: String) {
        for name in names(path) {
            let inner = path + "/" + name
            if unlink(inner) != 0 { remove(inner) }
        }
        rmdir(path)
    }
}

private struct TemporaryFolderError: Error { let number: Int32 }
