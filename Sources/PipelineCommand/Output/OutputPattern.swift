import ArgumentParser
import Pipeline
import PipelineFile
import Stages

/// A text with fields in braces.
struct FieldText<Field: RawRepresentable<String> & CaseIterable & Sendable>: Sendable {
    enum Part: Sendable {
        case text(String)
        case field(Field)
    }

    let parts: [Part]

    /// Reads a text.
    /// - Throws: `ValidationError` for an unknown field.
    init(_ argument: String) throws {
        var parts: [Part] = []
        var rest = Substring(argument)
        while let brace = rest.firstIndex(of: "{"), let end = rest[brace...].firstIndex(of: "}") {
            let name = String(rest[rest.index(after: brace)..<end])
            guard let field = Field(rawValue: name) else {
                let names = Field.allCases.map(\.rawValue)
                let remedy =
                    NearestName.of(name, among: names).map { "Did you mean {\($0)}?" }
                    ?? "There are \(names.map { "{\($0)}" }.joined(separator: ", "))."
                throw ValidationError("There is no field {\(printable(name))}. \(remedy)")
            }
            parts += [.text(String(rest[..<brace])), .field(field)]
            rest = rest[rest.index(after: end)...]
        }
        self.parts = parts + [.text(String(rest))]
    }
}

extension Sequence {
    /// The text with values for its fields.
    func filled<Field>(_ value: (Field) -> String) -> String where Element == FieldText<Field>.Part {
        map { part in
            switch part {
            case .text(let text): text
            case .field(let field): value(field)
            }
        }.joined()
    }
}

/// A path with fields in braces: `out/{name}-{w}.{ext}`.
struct OutputPattern: Sendable {
    enum Field: String, CaseIterable, Sendable {
        case name, w, h, ext, dir, index, format
    }

    private let parts: [FieldText<Field>.Part]

    /// Reads a pattern.
    /// - Parameter folder: A folder to put before the pattern; braces in it aren't fields.
    /// - Throws: `ValidationError` for an unknown field.
    init(_ text: String, in folder: String? = nil) throws {
        let start = folder.map { $0.utf8.last == UInt8(ascii: "/") ? $0 : $0 + "/" }
        parts = (start.map { [.text($0)] } ?? []) + (try FieldText(text).parts)
    }

    func contains(_ field: Field) -> Bool {
        parts.contains { if case .field(field) = $0 { true } else { false } }
    }

    /// Whether different sources get different paths.
    var tellsSourcesApart: Bool { contains(.name) || contains(.index) }

    /// Whether the path is known before the image is loaded.
    func isKnown(width: Int?) -> Bool { !contains(.h) && (width != nil || !contains(.w)) }

    /// The folder of the path; `nil` if it depends on the image's size.
    func folder(_ name: OutputName, _ format: ImageFormat, width: Int?) -> String? {
        let path = path(name, format, size: PixelSize(width: 1, height: 1), width: width)
        let other = self.path(name, format, size: PixelSize(width: 2, height: 2), width: width)
        let folders = [path, other].map { FileFacts.folder(of: $0) ?? "." }
        return folders[0].utf8.elementsEqual(folders[1].utf8) ? folders[0] : nil
    }

    /// The folder of all paths, up to the first field; `nil` if a field begins the path.
    var root: String? {
        guard case .text(let start)? = parts.first, !start.isEmpty else { return nil }
        // The text after its last slash is part of a name.
        return parts.count == 1 ? FileFacts.folder(of: start) : FileFacts.folder(of: start + "x")
    }

    /// The text after the last dot, if it contains no field.
    var fileExtension: String? {
        guard case .text(let end)? = parts.last else { return nil }
        return OutputName.fileExtension(of: end)
    }

    /// The path. `{w}` and `{h}` stay as they are if the size isn't known.
    func path(_ name: OutputName, _ format: ImageFormat, size: PixelSize?, width: Int? = nil) -> String {
        let path = parts.filled { (field: Field) in
            switch field {
            case .name: name.name
            case .dir: name.folder
            case .index: "\(name.index)"
            case .ext: name.fileExtension(format)
            case .format: format.name
            case .w: (width ?? size?.width).map { "\($0)" } ?? "{w}"
            case .h: size.map { "\($0.height)" } ?? "{h}"
            }
        }
        // {dir} is often `.`.
        let short = path.holds("/./") ? Self.withoutDots(path) : path
        return short.utf8.starts(with: "./".utf8) && contains(.dir)
            ? String(Substring(short.utf8.dropFirst(2))) : short
    }

    /// The path with a slash for each `/./`.
    private static func withoutDots(_ path: String) -> String {
        var bytes: [UInt8] = []
        for byte in path.utf8 {
            bytes.append(byte)
            if bytes.suffix(3).elementsEqual("/./".utf8) { bytes.removeLast(2) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
