import ArgumentParser
import Glibc
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
