import Glibc
import Pipeline

/// A pattern of paths as shells have them: `*`, `?` and `[…]` within a name, `**` for any folders.
struct PathPattern {
    private let root: String
    private let parts: [String]

    init(_ text: String) {
        let names = text.split(separator: "/").map(String.init)
        let fixed = names.prefix { !$0.contains { "*?[".contains($0) } }
        root = (text.hasPrefix("/") ? "/" : "") + fixed.joined(separator: "/")
        parts = Array(names.dropFirst(fixed.count))
    }

    /// The files that fit, with the folder of each below the part without wildcards.
    func paths(except: String?) throws(LoadError) -> [BatchSource] {
        var found: [BatchSource] = []
        collect("", parts[...], except, &found)
        return found
    }

    private func collect(_ inner: String, _ parts: ArraySlice<String>, _ except: String?, _ found: inout [BatchSource])
    {
        guard let part = parts.first else { return }
        let folder = root.isEmpty ? (inner.isEmpty ? "." : inner) : inner.isEmpty ? root : "\(root)/\(inner)"
        for name in FolderListing.names(in: folder) ?? [] where name.first != "." || part.first == "." {
            let path = inner.isEmpty ? name : "\(inner)/\(name)"
            let whole = root.isEmpty ? path : root.hasSuffix("/") ? root + path : "\(root)/\(path)"
            let isFolder = FileFacts.isFolder(whole)
            if part == "**" {
                if isFolder, !isLink(whole), FileFacts.resolved(whole) != except {
                    collect(path, parts, except, &found)
                }
            } else if fnmatch(part, name, FNM_PERIOD) == 0 {
                if parts.count > 1 {
                    if isFolder { collect(path, parts.dropFirst(), except, &found) }
                } else if !isFolder {
                    found.append(BatchSource(input: whole, folder: inner.isEmpty ? "." : inner))
                }
            }
        }
        // No folder at all fits `**` too.
        if part == "**" { collect(inner, parts.dropFirst(), except, &found) }
    }

    private func isLink(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }
}
