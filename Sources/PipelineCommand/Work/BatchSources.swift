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

    /// The sources of one argument: a folder, a file, a URL, or a pattern with `*`, `?`, `[…]` and `**`. An argument
    /// that can't be listed is a source with an error.
    func sources(_ argument: String) -> [BatchSource] {
        if argument.contains("://") || argument.hasPrefix("data:") {
            return [BatchSource(input: argument, folder: ".")]
        }
        switch FileFacts(argument)?.kind {
        case .folder:
            let hasSlash = argument.utf8.count > 1 && argument.utf8.last == UInt8(ascii: "/")
            let root = hasSlash ? String(Substring(argument.utf8.dropLast())) : argument
            return FolderListing.images(below: root, recursive: recursive, except: except).map {
                BatchSource(
                    input: $0.path.isEmpty ? root : "\(root)/\($0.path)", folder: Self.folder(of: $0.path),
                    error: $0.error)
            }
        case .regular, .other: return [BatchSource(input: argument, folder: Self.folder(of: argument))]
        case nil:
            let named = BatchSource(input: argument, folder: Self.folder(of: argument))
            // The job reports that there is no such file.
            guard PathPattern.hasWildcards(argument) else { return [named] }
            let found = PathPattern(argument).paths(except: except)
            guard found.isEmpty else { return found }
            let error = LoadError(.fileNotFound, subject: printable(argument), "No file fits the pattern.")
            return [BatchSource(input: argument, folder: ".", error: error)]
        }
    }

    /// The sources of a list, each ended by a byte.
    func list(_ bytes: [UInt8], endedBy end: UInt8) -> [BatchSource] {
        bytes.split(separator: end).map { String(path: $0) }.map { input in
            BatchSource(input: input, folder: input.contains("://") ? "." : Self.folder(of: input))
        }
    }

    /// The folder of a relative path without `..`; `.` for any other.
    private static func folder(of path: String) -> String {
        let parts = path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }.filter { $0 != "." }
            .dropLast()
        guard path.utf8.first != UInt8(ascii: "/"), !parts.isEmpty, !parts.contains("..") else { return "." }
        return parts.joined(separator: "/")
    }
}
