import CAttributes
import Glibc
import Pipeline

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
        for name in Self.names(of: path) where name.hasPrefix("user.") || name == "system.posix_acl_access" {
            let count = path.withPath { getxattr($0, name, nil, 0) }
            guard count > 0 else { continue }
            var value = [UInt8](repeating: 0, count: count)
            let read = path.withPath { getxattr($0, name, &value, count) }
            if read > 0 { fsetxattr(descriptor, name, value, read, 0) }
        }
    }

    private static func names(of path: String) -> [String] {
        let count = path.withPath { listxattr($0, nil, 0) }
        guard count > 0 else { return [] }
        var names = [CChar](repeating: 0, count: count)
        guard path.withPath({ listxattr($0, &names, count) }) == count else { return [] }
        return names.split(separator: 0).map { String(decoding: $0.map(UInt8.init(bitPattern:)), as: UTF8.self) }
    }
}
