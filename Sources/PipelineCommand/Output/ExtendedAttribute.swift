import CAttributes
import LibC
import Pipeline

/// The extended attributes of files. The calls of macOS have more parameters.
enum ExtendedAttribute {
    /// Whether a file that takes another one's place gets an attribute of this name. On macOS an access control list is no
    /// attribute, and isn't kept.
    static func isKept(_ name: String) -> Bool {
        #if canImport(Darwin)
        true
        #else
        name.hasPrefix("user.") || name == "system.posix_acl_access"
        #endif
    }

    /// The names of a file's attributes.
    static func names(of path: String) -> [String] {
        let count = path.withPath { list($0, nil, 0) }
        guard count > 0 else { return [] }
        var names = [CChar](repeating: 0, count: count)
        guard path.withPath({ list($0, &names, count) }) == count else { return [] }
        return names.split(separator: 0).map { String(decoding: $0.map(UInt8.init(bitPattern:)), as: UTF8.self) }
    }

    /// Gives an attribute of a file to an open one, as far as the system allows.
    static func pass(_ name: String, of path: String, to descriptor: Int32) {
        let count = path.withPath { get($0, name, nil, 0) }
        guard count > 0 else { return }
        var value = [UInt8](repeating: 0, count: count)
        let read = path.withPath { get($0, name, &value, count) }
        guard read > 0 else { return }
        #if canImport(Darwin)
        fsetxattr(descriptor, name, value, read, 0, 0)
        #else
        fsetxattr(descriptor, name, value, read, 0)
        #endif
    }

    private static func list(_ path: UnsafePointer<CChar>, _ names: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        #if canImport(Darwin)
        listxattr(path, names, count, 0)
        #else
        listxattr(path, names, count)
        #endif
    }

    private static func get(
        _ path: UnsafePointer<CChar>, _ name: String, _ value: UnsafeMutableRawPointer?, _ count: Int
    ) -> Int {
        #if canImport(Darwin)
        getxattr(path, name, value, count, 0, 0)
        #else
        getxattr(path, name, value, count)
        #endif
    }
}
