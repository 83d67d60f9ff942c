/// The reason why a folder is not used as a cache: it may not be this user's, or not a cache.
struct FolderRefusal: Error, CustomStringConvertible {
    enum Reason: Sendable {
        /// A folder or file of the cache is a link.
        case link
        /// A file of the cache is not a plain file.
        case noFile
        /// Another user owns it.
        case owner
        /// Other users may write to it.
        case writable(String)
        /// The folder holds other files and no cache.
        case otherFiles(String)
        /// The database is another program's.
        case otherDatabase
    }

    let path: String
    let reason: Reason

    init(_ path: String, _ reason: Reason) {
        self.path = path
        self.reason = reason
    }

    var description: String { "\(path) \(what)" }

    /// Whether a repair fixes it: the folder is this user's, and is a cache.
    var isRepairable: Bool { if case .writable = reason { true } else { false } }

    /// What is wrong, and what to do.
    var what: String {
        switch reason {
        case .link: "is a link. Remove it, or name the folder that it leads to."
        case .noFile: "is not a plain file. Remove it, or choose another folder."
        case .owner: "belongs to another user. Choose a folder of this user's."
        case .writable(let mode): "has the mode \(mode), so others may write in it. Run chmod go-w on it."
        case .otherFiles(let name): "holds other files, such as \(name), and no cache. Choose an empty folder."
        case .otherDatabase: "is another program's database. Choose another folder."
        }
    }
}
