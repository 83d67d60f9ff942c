import ArgumentParser
import LibC
import Pipeline
import Stages

/// One source of a batch.
struct BatchSource: Sendable {
    let input: String
    /// The file's folder relative to the root, which its result has below the output's folder.
    let folder: String
    /// Why it can't be processed.
    var error: LoadError?
}

/// The sources that folders, patterns and lists stand for, in a fixed order.
struct BatchSources {
    let recursive: Bool
    /// A folder to leave out, such as the one for results.
    let except: String?

    /// Finds the sources of one argument: a folder, a file, a URL, or a pattern with `*`, `?`, `[…]` and `**`. An
    /// argument that can't be listed is a source with an error.
    func each(_ argument: String, _ found: (BatchSource) throws -> Void) rethrows {
        if argument.hasScheme || argument.hasPrefix("data:") {
            return try found(BatchSource(input: argument, folder: "."))
        }
        switch FileFacts(argument)?.kind {
        case .folder:
            let hasSlash = argument.utf8.count > 1 && argument.utf8.last == UInt8(ascii: "/")
            let root = hasSlash ? String(Substring(argument.utf8.dropLast())) : argument
            try FolderListing.eachImage(below: root, recursive: recursive, except: except) {
                try found(
                    BatchSource(
                        input: $0.path.isEmpty ? root : "\(root)/\($0.path)", folder: Self.folder(of: $0.path),
                        error: $0.error))
            }
        case .regular, .other: try found(BatchSource(input: argument, folder: Self.folder(of: argument)))
        case nil:
            // The job reports that there is no such file.
            guard PathPattern.hasWildcards(argument) else {
                return try found(BatchSource(input: argument, folder: Self.folder(of: argument)))
            }
            var isEmpty = true
            try PathPattern(argument).eachPath(except: except) {
                isEmpty = false
                try found($0)
            }
            guard isEmpty else { return }
            let error = LoadError(.fileNotFound, subject: printable(argument), "No file fits the pattern.")
            try found(BatchSource(input: argument, folder: ".", error: error))
        }
    }

    /// Finds the sources of a list in standard input, each ended by a byte.
    func eachInInput(
        endedBy end: UInt8, _ cancellation: WorkCancellation, _ found: (BatchSource) throws -> Void
    ) throws {
        var rest: [UInt8] = []
        try StandardStream.eachChunk(cancellation) { try split($0, endedBy: end, &rest, found) }
        try listed(rest[...], found)
    }

    /// Finds the sources of a list in a file, each ended by a zero byte.
    func eachInFile(_ path: String, _ found: (BatchSource) throws -> Void) throws {
        guard let bytes = try StandardStream.readFile(path) else {
            let why = String(cString: strerror(errno))
            throw LoadError(.fileUnreadable, subject: printable(path), "The list can't be read: \(why).")
        }
        var rest: [UInt8] = []
        try split(bytes[...], endedBy: 0, &rest, found)
        try listed(rest[...], found)
    }

    private func split(
        _ chunk: ArraySlice<UInt8>, endedBy end: UInt8, _ rest: inout [UInt8], _ found: (BatchSource) throws -> Void
    ) rethrows {
        var new = chunk
        while let index = new.firstIndex(of: end) {
            try listed(rest.isEmpty ? new[..<index] : (rest + new[..<index])[...], found)
            rest = []
            new = new[(index + 1)...]
        }
        rest += new
    }

    private func listed(_ bytes: ArraySlice<UInt8>, _ found: (BatchSource) throws -> Void) rethrows {
        guard !bytes.isEmpty else { return }
        let input = String(path: bytes)
        try found(BatchSource(input: input, folder: input.hasScheme ? "." : Self.folder(of: input)))
    }

    /// The folder of a relative path without `..`; `.` for any other.
    private static func folder(of path: String) -> String {
        let parts = path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }.filter { $0 != "." }
            .dropLast()
        guard path.utf8.first != UInt8(ascii: "/"), !parts.isEmpty, !parts.contains("..") else { return "." }
        return parts.joined(separator: "/")
    }
}

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
                if FileFacts(whole, followsLinks: false)?.kind == .folder, FileFacts.resolved(whole) != except {
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
}

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
            // A file that was removed meanwhile is an image only if its name says so. Its job then reports that it is
            // gone.
            if FileFacts(whole, followsLinks: false)?.kind == .folder {
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
