public import Pipeline
public import PipelineImages

/// Refuses bytes before they are decoded if their declared type isn't an accepted image format, or if they are of
/// another format than declared (RFC 9110 section 8.3).
///
/// Bytes without a declared type, or declared as `application/octet-stream`, are left to `Decode`. Only remote sources
/// are checked.
public struct CheckContentType: Stage {
    /// Bytes of a source.
    public let accepts: Phases = .original
    /// The same bytes.
    public let produces: Phases = .original

    private let codecs: ImageCodecs

    /// Makes the stage.
    /// - Parameter codecs: The formats that are accepted; by default `ImageCodecs.standard`.
    public init(codecs: ImageCodecs = .standard) { self.codecs = codecs }

    /// Compares the declared type with the accepted ones and with the bytes.
    /// - Throws: `LoadError` with `unsupportedType`, which names the type received.
    public func run(_ load: inout Load) async throws -> Outcome {
        guard load.request.source.isRemote, case .original(let file) = load.content,
            let declared = file.declaredType.flatMap(Self.mediaType), !Self.saysNothing.contains(declared)
        else { return .skipped }
        guard
            let format = codecs.codecs.first(where: { $0.format.rawValue == declared || $0.aliases.contains(declared) }
            )?
            .format
        else {
            let accepted = codecs.codecs.map(\.format.rawValue).sorted().joined(separator: ", ")
            throw LoadError(
                .unsupportedType, subject: load.subject,
                "The origin declares the content as \(printable(declared)); accepted are \(accepted).")
        }
        if let actual = codecs.format(of: file.bytes), actual != format {
            throw LoadError(
                .unsupportedType, subject: load.subject,
                "The origin declares the content as \(declared), and it is \(actual). "
                    + "Remove CheckContentType to go by the bytes alone.")
        }
        return .done
    }

    /// The type without its parameters, in lower case; `nil` if there is nothing before them.
    private static func mediaType(_ field: String) -> String? {
        let type = field.prefix { $0 != ";" && $0 != "," }.filter { $0 != " " && $0 != "\t" }.lowercased()
        return type.isEmpty ? nil : type
    }

    private static let saysNothing: Set<String> = ["application/octet-stream", "binary/octet-stream"]
}
