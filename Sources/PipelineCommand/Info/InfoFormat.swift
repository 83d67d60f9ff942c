import ArgumentParser
import Pipeline
import PipelineFile
import Stages

/// A text with fields in braces, as `info -F` takes it.
struct InfoFormat: Sendable {
    private enum Part: Sendable {
        case text(String)
        case field(InfoField)
    }

    private let parts: [Part]

    /// Reads a text.
    /// - Throws: `ValidationError` for an unknown field.
    init(_ argument: String) throws {
        var parts: [Part] = []
        var rest = Substring(argument)
        while let brace = rest.firstIndex(of: "{"), let end = rest[brace...].firstIndex(of: "}") {
            let name = String(rest[rest.index(after: brace)..<end])
            guard let field = InfoField(rawValue: name) else {
                let names = InfoField.allCases.map(\.rawValue)
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

    /// The text for one file.
    func text(_ input: String, _ metadata: ImageMetadata) -> String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .field(let field): field.text(input, metadata)
            }
        }.joined()
    }
}
