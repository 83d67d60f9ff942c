import Pipeline
import Stages

/// What a source lends to the name of its output.
struct OutputName: Sendable, Hashable {
    /// The file name without folder and extension.
    let name: String
    /// The folder, or in a batch what lies between the root and the file; `.` where there is none.
    let folder: String
    /// From 1, by place in the list.
    let index: Int
    /// The extension in lower case, where there is one.
    let sourceExtension: String?

    /// Takes the name of an input apart.
    /// - Parameter folder: instead of the input's own.
    init(_ input: String, index: Int, folder: String? = nil) {
        name = Self.name(of: input)
        self.index = index
        sourceExtension = input == "-" || input.hasPrefix("data:") ? nil : Self.fileExtension(of: input)
        self.folder = folder ?? Self.folder(of: input)
    }

    /// The format that an output has unless another is chosen: the source's where it can be written, JPEG for those of
    /// cameras, PNG for the rest.
    var format: ImageFormat {
        guard let format = sourceExtension.flatMap({ ImageFormat(fileExtension: $0) }) else { return .png }
        return format.isWritable ? format : format == .heic ? .jpeg : .png
    }

    /// The input's file name without folders, query and extension; never one that leaves the folder.
    private static func name(of input: String) -> String {
        let isURL = input.contains("://")
        let path = isURL ? String(input.prefix { $0 != "?" && $0 != "#" }) : input
        let last = path.split(separator: "/").last.map(String.init) ?? ""
        let name = last.lastIndex(of: ".").flatMap { $0 == last.startIndex ? nil : String(last[..<$0]) } ?? last
        return input == "-"
            ? "stdin" : name.isEmpty || name == ".." || name == "." || input.hasPrefix("data:") ? "image" : name
    }

    private static func folder(of input: String) -> String {
        guard !input.contains("://"), input != "-", !input.hasPrefix("data:") else { return "." }
        return input.lastIndex(of: "/").map { $0 == input.startIndex ? "/" : String(input[..<$0]) } ?? "."
    }

    /// The extension of a path or URL, in lower case.
    static func fileExtension(of path: String) -> String? {
        let bare = path.contains("://") ? path.prefix { $0 != "?" && $0 != "#" } : path[...]
        let last = bare.split(separator: "/").last ?? ""
        return last.lastIndex(of: ".").map { last[last.index(after: $0)...].lowercased() }
    }
}
