import ArgumentParser
import PipelineFile
import Stages

/// A text with fields in braces, as `info -F` takes it.
struct InfoFormat: ExpressibleByArgument, Sendable {
    private enum Part: Sendable {
        case text(String)
        case field(InfoField)
    }

    private let parts: [Part]

    init?(argument: String) {
        var parts: [Part] = []
        var rest = Substring(argument)
        while let brace = rest.firstIndex(of: "{"), let end = rest[brace...].firstIndex(of: "}") {
            guard let field = InfoField(rawValue: String(rest[rest.index(after: brace)..<end])) else { return nil }
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
