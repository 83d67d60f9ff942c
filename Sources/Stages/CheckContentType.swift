import PipelineImages
public import Pipeline

/// Refuses what the origin declares to be something other than an accepted image, or what is not what it is declared to
/// be, before anything is decoded (RFC 9110 section 8.3).
///
/// Bytes without a declared type, or declared as `application/octet-stream`, are told by `Decode` alone. Only what came
/// over the network is looked at.
public struct CheckContentType: Stage {
    /// Bytes of a source.
    public let accepts: Phases = .original
    /// The same bytes.
    public let produces: Phases = .original

    private let formats: Set<ImageFormat>

    /// Accepts these formats; by default those that `Decode` decodes by default.
    public init(accepting formats: Set<ImageFormat> = ImageFormat.standard) { self.formats = formats }

    /// Compares the declared type with the accepted ones and with the bytes.
    /// - Throws: `LoadError` with `unsupportedType`, which names the type received.
    public func run(_ load: inout Load) async throws -> Outcome {
        guard load.request.source.isRemote, case .original(let file) = load.content,
            let declared = file.declaredType.flatMap(Self.mediaType), !Self.saysNothing.contains(declared)
        else { return .skipped }
        let format = ImageFormat(rawValue: Self.aliases[declared] ?? declared)
        guard formats.contains(format) else {
            let accepted = formats.map(\.rawValue).sorted().joined(separator: ", ")
            throw LoadError(
                .unsupportedType, subject: load.subject,
                "The origin declares the content as \(printable(declared)); accepted are \(accepted).")
        }
        if let actual = ImageFormatSniffer.format(of: file.bytes), actual != format {
            throw LoadError(
                .unsupportedType, subject: load.subject,
                "The origin declares the content as \(declared), and it is \(actual). Its operator has to fix that; "
                    + "remove CheckContentType to go by the bytes alone.")
        }
        return .done
    }

    /// The type without its parameters, in lower case; `nil` if there is nothing before them.
    private static func mediaType(_ field: String) -> String? {
        let type = field.prefix { $0 != ";" && $0 != "," }.filter { $0 != " " && $0 != "\t" }.lowercased()
        return type.isEmpty ? nil : type
    }

    private static let saysNothing: Set<String> = ["application/octet-stream", "binary/octet-stream"]

    /// Names that were never registered, or are of a kind that the same decoder reads.
    private static let aliases = [
        "image/jpg": "image/jpeg", "image/pjpeg": "image/jpeg", "image/x-png": "image/png", "image/apng": "image/png",
        "image/vnd.mozilla.apng": "image/png", "image/tif": "image/tiff", "image/x-tiff": "image/tiff",
        "image/x-webp": "image/webp", "image/x-bmp": "image/bmp", "image/x-ms-bmp": "image/bmp",
        "image/heif": "image/heic", "image/heic-sequence": "image/heic", "image/heif-sequence": "image/heic",
        "image/avif-sequence": "image/avif", "image/svg": "image/svg+xml",
    ]
}
