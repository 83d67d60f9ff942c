public import Pipeline
public import PipelineImages

/// Refuses a response whose body no codec recognizes, before anything decodes it, and names the type that the origin
/// declared (RFC 9110 section 8.3).
///
/// The bytes decide what an image is, as in a browser: a JPEG that is declared as `image/png` or `text/plain` is decoded,
/// and the trace notes the declared type. A body that no codec recognizes, such as a page of `text/html`, is refused.
///
/// ```swift
/// CheckContentType(codecs: resources.codecs, accepting: [.jpeg, .png])   // nothing else
/// CheckContentType(codecs: resources.codecs, strict: true)               // the declared type has to be right
/// ```
///
/// A body without a declared type, or declared as `application/octet-stream` or as an image that a codec reads, is left to
/// `Decode` if no codec recognizes it. Only remote sources are checked.
public struct CheckContentType: Stage {
    public let accepts: Phases = .original
    public let produces: Phases = .original

    private let codecs: ImageCodecs
    private let accepted: Set<ImageFormat>?
    private let isStrict: Bool

    package static func specification(_ codecs: ImageCodecs) -> StageSpecification {
        StageSpecification(
            "checkContentType", "Refuses a response that is not an image.",
            .optional("strict", .flag, "Refuses an image that is declared as another type.", default: false)
        ) { CheckContentType(codecs: codecs, strict: $0) }
    }

    /// Makes the stage.
    /// - Parameters:
    ///   - codecs: The formats that the list decodes: those of its `Decode`.
    ///   - accepted: The only formats that are accepted, both as the declared type and as the body; `nil`, the default,
    ///     for every format of `codecs`, whatever is declared.
    ///   - strict: Whether a declared type must be that of the body; `false` by default.
    public init(codecs: ImageCodecs, accepting accepted: Set<ImageFormat>? = nil, strict: Bool = false) {
        self.codecs = codecs
        self.accepted = accepted
        isStrict = strict
    }

    public var parameters: String {
        ((isStrict ? ["strict"] : []) + (accepted?.map(\.rawValue).sorted() ?? [])).joined(separator: ", ")
    }

    public var identity: StageIdentity? {
        StageIdentity(
            "\(accepted?.map(\.rawValue).sorted() ?? [])", "\(accepted != nil), \(isStrict)", over: codecs.codecs)
    }

    /// Compares the body and the declared type with the accepted formats.
    /// - Throws: `LoadError` with `unsupportedType`, which names the declared type.
    public func run(_ load: inout Load) async throws -> Outcome {
        guard load.request.source.isRemote, case .original(let file) = load.content else { return .skipped }
        let type = file.declaredType.flatMap(Self.mediaType).flatMap { Self.saysNothing.contains($0) ? nil : $0 }
        let actual = codecs.codec(of: file.bytes)?.format
        if let actual, accepted?.contains(actual) == false { throw refusal(of: type, actual, load) }
        guard let type else { return .skipped }
        let declared = codecs.codecs.first { $0.format.rawValue == type || $0.aliases.contains(type) }?.format
        if let accepted, declared.map(accepted.contains) != true { throw refusal(of: type, actual, load) }
        guard let actual else {
            // What should be an image of a known format is a damaged one, as `Decode` says.
            if declared != nil, codecs.format(of: file.bytes) == nil { return .skipped }
            throw refusal(of: type, codecs.format(of: file.bytes), load)
        }
        guard declared != actual else { return .done }
        if isStrict { throw refusal(of: type, actual, load) }
        load.note(.mislabelled(declared: plainText(type, limit: 100), as: actual))
        return .done
    }

    private func refusal(of type: String?, _ actual: ImageFormat?, _ load: Load) -> LoadError {
        let formats = accepted ?? Set(codecs.codecs.map(\.format))
        let names = formats.map(\.rawValue).sorted().joined(separator: ", ")
        let declared = type.map { "The origin declares the content as \(plainText($0, limit: 100))" }
        let body = actual.map { "it is \($0)" } ?? "no codec recognizes it"
        return LoadError(
            .unsupportedType, subject: load.subject,
            "\(declared.map { "\($0), and \(body)" } ?? "The content is no accepted image: \(body)"); accepted are \(names)."
        )
    }

    /// The type without its parameters, in lower case; `nil` if there is nothing before them.
    private static func mediaType(_ field: String) -> String? {
        let type = field.prefix { $0 != ";" && $0 != "," }.filter { $0 != " " && $0 != "\t" }.lowercased()
        return type.isEmpty ? nil : type
    }

    private static let saysNothing: Set<String> = ["application/octet-stream", "binary/octet-stream"]
}

extension CheckContentType: CodecStage {
    package var ownCodecs: (any CodecSet)? { codecs }
    package var decodes: Bool { false }
}
