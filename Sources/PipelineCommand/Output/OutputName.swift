import Pipeline
import Stages

/// The parts of a source's name that its output's name can use.
struct OutputName: Sendable, Hashable {
    /// The file name without folder and extension.
    private(set) var name: String
    /// The folder, in a batch relative to the root; `.` if there is none.
    let folder: String
    /// The position in the list, from 1.
    let index: Int
    /// The extension as it is spelled, if there is one.
    private let spelledExtension: String?
    /// The extension in lower case, if there is one.
    var sourceExtension: String? { spelledExtension?.lowercased() }
    /// The format of the file's bytes, if its extension names none.
    private(set) var sniffed: ImageFormat?

    /// Takes the name of an input apart.
    /// - Parameter folder: Replaces the input's own folder.
    init(_ input: String, index: Int, folder: String? = nil) {
        name = Self.name(of: input)
        self.index = index
        spelledExtension = input == "-" || input.hasPrefix("data:") ? nil : Self.spelledExtension(of: input)
        self.folder = folder ?? Self.folder(of: input)
    }

    /// The same with another file name.
    func renamed(_ name: String) -> OutputName {
        var renamed = self
        renamed.name = name
        return renamed
    }

    /// The same with a number, such as `a-2`.
    func numbered(_ number: Int) -> OutputName { renamed("\(name)-\(number)") }

    /// The same with the source's extension in the name, such as `a.heic`; `nil` if there is none.
    var keepingExtension: OutputName? { sourceExtension.map { renamed("\(name).\($0)") } }

    /// The same name with the format of the file's first bytes, which are read if the extension names no format.
    func sniffing(_ input: String) -> OutputName {
        guard extensionFormat == nil,
            case .file(let path)? = try? ImageSource(argument: input == "-" ? "data:" : input)
        else { return self }
        var name = self
        name.sniffed = SourceFormat.ofFile(path)
        return name
    }

    /// The format that the extension names.
    private var extensionFormat: ImageFormat? {
        sourceExtension.flatMap { Formats.codecs.codec(forExtension: $0) }?.format
    }

    /// The format that an output has unless another is chosen.
    var format: ImageFormat {
        (extensionFormat ?? sniffed)?.ofResult ?? Formats.standard
    }

    /// The input's file name without folders, query and extension; never one that leaves the folder.
    private static func name(of input: String) -> String {
        let isURL = input.hasScheme
        let path = isURL ? String(input.prefix { $0 != "?" && $0 != "#" }) : input
        let last = last(of: path)
        let dot = last.utf8.lastIndex(of: UInt8(ascii: ".")).flatMap { $0 == last.startIndex ? nil : $0 }
        let name = dot.map { String(last[..<$0]) } ?? String(last)
        return input == "-"
            ? "stdin" : name.isEmpty || name == ".." || name == "." || input.hasPrefix("data:") ? "image" : name
    }

    /// The folder of an input; `.` if there is none.
    static func folder(of input: String) -> String {
        guard !input.hasScheme, input != "-", !input.hasPrefix("data:") else { return "." }
        return FileFacts.folder(of: input) ?? "."
    }

    /// The extension of a result in a format: the source's own, as it is spelled, if the format stays.
    func fileExtension(_ format: ImageFormat) -> String {
        extensionFormat == format ? spelledExtension ?? format.fileExtension : format.fileExtension
    }

    /// The extension of a path or URL, in lower case.
    static func fileExtension(of path: String) -> String? { spelledExtension(of: path)?.lowercased() }

    private static func spelledExtension(of path: String) -> String? {
        let last = last(of: path.hasScheme ? String(path.prefix { $0 != "?" && $0 != "#" }) : path)
        return last.utf8.lastIndex(of: UInt8(ascii: ".")).map { String(last[last.utf8.index(after: $0)...]) }
    }

    /// The text after the last slash. Bytes are compared, since a combining mark after a slash would hide it.
    private static func last(of path: String) -> Substring {
        path.utf8.split(separator: UInt8(ascii: "/")).last.map { Substring($0) } ?? ""
    }
}
