import Glibc
import Pipeline

/// A pattern of paths as in shells: `*`, `?` and `[…]` within a name, `**` for any folders.
struct PathPattern {
    private let root: String
    private let parts: [String]

    init(_ text: String) {
        let names = text.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
        let fixed = names.prefix { !Self.hasWildcards($0) }
        root = (text.utf8.first == UInt8(ascii: "/") ? "/" : "") + fixed.joined(separator: "/")
        parts = Array(names.dropFirst(fixed.count))
    }

    /// Whether a text has wildcards.
    static func hasWildcards(_ text: String) -> Bool { text.utf8.contains { "*?[".utf8.contains($0) } }

    /// Finds the files that match, each with its folder below the part without wildcards.
    func eachPath(except: String?, _ found: (BatchSource) throws -> Void) rethrows {
        try collect("", parts[...], except, found)
    }

    private func collect(
        _ inner: String, _ parts: ArraySlice<String>, _ except: String?, _ found: (BatchSource) throws -> Void
    ) rethrows {
        guard let part = parts.first else { return }
        let folder = root.isEmpty ? (inner.isEmpty ? "." : inner) : inner.isEmpty ? root : "\(root)/\(inner)"
        for name in FolderListing.names(in: folder) ?? []
        where name.utf8.first != UInt8(ascii: ".") || part.utf8.first == UInt8(ascii: ".") {
            let path = inner.isEmpty ? name : "\(inner)/\(name)"
            let whole = root.isEmpty ? path : root.utf8.last == UInt8(ascii: "/") ? root + path : "\(root)/\(path)"
            let isFolder = FileFacts.isFolder(whole)
            if part == "**" {
                if isFolder, !isLink(whole), FileFacts.resolved(whole) != except {
                    try collect(path, parts, except, found)
                }
            } else if part.withPath({ part in name.withPath { fnmatch(part, $0, FNM_PERIOD) } }) == 0 {
                if parts.count > 1 {
                    if isFolder { try collect(path, parts.dropFirst(), except, found) }
                } else if !isFolder {
                    try found(BatchSource(input: whole, folder: inner.isEmpty ? "." : inner))
                }
            }
        }
        // `**` also matches no folder at all.
        if part == "**" { try collect(inner, parts.dropFirst(), except, found) }
    }

    private func isLink(_ path: String) -> Bool {
        var status = stat()
        return path.withPath { lstat($0, &status) } == 0 && status.st_mode & S_IFMT == S_IFLNK
    }
}
