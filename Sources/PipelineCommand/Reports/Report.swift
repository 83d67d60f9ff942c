import Essentials
import Pipeline

/// What a verb says of one result: an object with `--json`, else a line for people.
struct Report: Encodable {
    /// The object's members. A value that is missing is written as `null`, so that readers needn't check which members
    /// are there.
    typealias Fields = [String: (any Encodable)?]

    private struct Name: CodingKey {
        let stringValue: String
        let intValue: Int? = nil
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private let fields: Fields
    private let text: () -> String?
    private let error: LoadError?

    init(_ fields: Fields, _ text: @autoclosure @escaping () -> String? = nil) {
        (self.fields, self.text, error) = (fields, text, nil)
    }

    /// A part of a report without the members that are missing.
    init(present fields: Fields) { self.init(fields.filter { $0.value != nil }) }

    /// Reports a result that may have failed. The object has the error, or `null`, as `error`.
    init(_ fields: Fields, error: LoadError?, _ text: @autoclosure @escaping () -> String? = nil) {
        self.fields = fields.merging(["error": error.map { Report($0) }]) { $1 }
        (self.text, self.error) = (text, error)
    }

    /// Reports an error alone.
    private init(_ error: LoadError) {
        self.init(["code": error.code.rawValue, "stage": error.stage, "message": error.text(namesStage: false)])
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Name.self)
        for (name, value) in fields {
            let name = Name(stringValue: name)
            if let value { try object.encode(value, forKey: name) } else { try object.encodeNil(forKey: name) }
        }
    }

    /// Prints it, with a failure on standard error unless it is an object.
    func show(_ options: ReportOptions) {
        if !options.json, let error { return options.show(error) }
        if options.json || !options.quiet { write(asJSON: options.json) }
    }

    /// Prints the object or the line on standard output.
    func write(asJSON: Bool) {
        if let line = line(asJSON: asJSON) { StandardOutput.write(line) }
    }

    func line(asJSON: Bool) -> String? { asJSON ? JSONLine.of(self) : text() }
}

/// Writes objects as lines of JSON, for `--json`.
enum JSONLine {
    /// The line of a value, without its end. The bytes of a path that are not UTF-8 are percent-encoded.
    static func of(_ value: some Encodable) -> String {
        let line = String(decoding: bytes(of: value), as: UTF8.self)
        return line.hasPathEscapes ? printable(escaped(line)) : escaped(line)
    }

    /// The line of a value as a program reads it, with all texts as they are.
    static func bytes(of value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts and numbers can always be encoded.
        return (try? encoder.encode(value)).map { Array($0) } ?? Array("{}".utf8)
    }

    /// Escapes the invisible marks, which only texts have, as JSON can: programs read the same text, and a terminal shows
    /// nothing else. The encoder itself escapes those below U+0020 alone.
    private static func escaped(_ line: String) -> String {
        guard line.unicodeScalars.contains(where: \.isInvisibleMark) else { return line }
        return line.unicodeScalars.map { scalar in
            guard scalar.isInvisibleMark else { return String(scalar) }
            return String(scalar).utf16.map { unit in
                let digits = String(unit, radix: 16)
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }.joined()
        }.joined()
    }
}
