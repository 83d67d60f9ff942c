import ArgumentParser
import Glibc
import Pipeline
import Stages

/// One source of a batch.
struct BatchSource: Sendable, Hashable {
    let input: String
    /// What lies between the root and the file: where its result lies below the output's folder.
    let folder: String
}

/// The sources that folders, patterns and lists stand for, in a fixed order.
struct BatchSources {
    let recursive: Bool
    /// Left out of folders: where results go.
    let except: String?

    /// The sources of one argument: a folder, a file, a URL, or a pattern with `*`, `?`, `[…]` and `**`.
    /// - Throws: `LoadError` if a folder can't be read, or nothing fits a pattern.
    func sources(_ argument: String) throws(LoadError) -> [BatchSource] {
        if argument.contains("://") || argument.hasPrefix("data:") {
            return [BatchSource(input: argument, folder: ".")]
        }
        switch FileFacts(argument)?.kind {
        case .folder:
            let root = argument.count > 1 && argument.hasSuffix("/") ? String(argument.dropLast()) : argument
            return try FolderListing.images(below: root, recursive: recursive, except: except).map {
                BatchSource(input: "\(root)/\($0)", folder: Self.folder(of: $0))
            }
        case .regular, .other: return [BatchSource(input: argument, folder: Self.folder(of: argument))]
        case nil:
            guard argument.contains(where: { "*?[".contains($0) }) else {
                // The job says that there is no such file.
                return [BatchSource(input: argument, folder: Self.folder(of: argument))]
            }
            let found = try PathPattern(argument).paths(except: except)
            guard !found.isEmpty else {
                throw LoadError(.fileNotFound, subject: printable(argument), "No file fits the pattern.")
            }
            return found
        }
    }

    /// The sources of a list, each ended by a byte.
    func list(_ bytes: [UInt8], endedBy end: UInt8) -> [BatchSource] {
        bytes.split(separator: end).map { String(decoding: $0, as: UTF8.self) }.map { input in
            BatchSource(input: input, folder: input.contains("://") ? "." : Self.folder(of: input))
        }
    }

    /// The folder of a relative path that stays below where it begins; `.` for any other.
    private static func folder(of path: String) -> String {
        let parts = path.split(separator: "/").filter { $0 != "." }.dropLast()
        guard !path.hasPrefix("/"), !parts.isEmpty, !parts.contains("..") else { return "." }
        return parts.joined(separator: "/")
    }
}
