import FoundationEssentials
import Pipeline
import Stages

/// Where a load's result goes, and in which format.
struct OutputPlan: Sendable {
    enum Destination: Sendable {
        case nowhere
        case standardOutput
        case file(String)
    }

    let destination: Destination
    let format: ImageFormat?

    /// The destination as `--json` names it.
    var name: String? {
        switch destination {
        case .nowhere: nil
        case .standardOutput: "-"
        case .file(let path): path
        }
    }

    /// Plans one output.
    /// - Parameter output: what stands after `-o`: `-`, a file, a folder, or a path with `{name}` in it.
    /// - Throws: `LoadError` with `unencodable` if the extension names no format that can be written.
    init(output: String?, input: String, isFolder: Bool) throws(LoadError) {
        guard let output else {
            self.init(destination: .nowhere, format: nil)
            return
        }
        if output == "-" {
            self.init(destination: .standardOutput, format: .png)
            return
        }
        var path = output.replacing("{name}", with: Self.name(of: input))
        if isFolder {
            let type = Self.fileExtension(input).flatMap {
                ImageFormat(fileExtension: $0)?.isWritable == true ? $0 : nil
            }
            path += (path.hasSuffix("/") ? "" : "/") + Self.name(of: input) + "." + (type ?? "png")
        }
        guard let format = Self.fileExtension(path).flatMap({ ImageFormat(fileExtension: $0) }), format.isWritable
        else {
            throw LoadError(
                .unencodable, subject: path,
                "The extension names no format that can be written; use jpg, png, webp, avif, gif or tif.")
        }
        self.init(destination: .file(path), format: format)
    }

    private init(destination: Destination, format: ImageFormat?) {
        self.destination = destination
        self.format = format
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

    private static func fileExtension(_ path: String) -> String? {
        let last = path.prefix { $0 != "?" && $0 != "#" }.split(separator: "/").last ?? ""
        return last.lastIndex(of: ".").map { last[last.index(after: $0)...].lowercased() }
    }
}
