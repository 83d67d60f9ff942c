public import Pipeline

/// One image format: how its files are recognized, read and written.
///
/// Define a format of your own as a constant, and add it to a list of codecs with ``ImageCodecs/adding(_:)``:
///
/// ```swift
/// extension ImageCodec {
///     static let qoi = ImageCodec(
///         ImageFormat(rawValue: "image/qoi"), extensions: ["qoi"], decoder: QOIDecoder(), encoder: QOIEncoder()
///     ) { $0.starts(with: "qoif".utf8) }
/// }
/// ```
///
/// Codecs are compared by identity when equal loads share their work, so keep each in a constant.
public final class ImageCodec: Sendable {
    /// The format, by its media type.
    public let format: ImageFormat
    /// The extensions of the format's files, in lower case and without the dot. New files get the first one.
    public let extensions: [String]
    /// Reads the format.
    public let decoder: any ImageDecoding
    /// Writes the format; `nil` for a read-only format.
    public let encoder: (any ImageEncoding)?

    /// Media types that servers also use for the format, in lower case.
    package let aliases: [String]
    /// The format that a file is converted to where its own can't be written; `nil` for PNG.
    package let substitute: ImageFormat?
    /// How the format takes part in content negotiation; `nil` if it doesn't.
    let negotiation: Negotiation?
    private let isMatch: @Sendable ([UInt8]) -> Bool

    /// Describes a format.
    ///
    /// Clients get the format only if their `Accept` field names it, see ``AcceptedFormats``.
    /// - Parameters:
    ///   - format: The media type.
    ///   - extensions: The extensions of its files, in lower case and without the dot.
    ///   - aliases: Further media types that servers use for it, in lower case.
    ///   - decoder: Reads it.
    ///   - encoder: Writes it; `nil`, the default, for a read-only format.
    ///   - matches: Whether a file begins as one of this format. Its argument is the whole file or any part from the
    ///     beginning.
    public convenience init(
        _ format: ImageFormat, extensions: [String], aliases: [String] = [], decoder: any ImageDecoding,
        encoder: (any ImageEncoding)? = nil, matches: @escaping @Sendable (_ bytes: [UInt8]) -> Bool
    ) {
        self.init(
            format, extensions: extensions, aliases: aliases, decoder: decoder, encoder: encoder,
            negotiation: encoder.map { Negotiation(rank: .max, holdsMotion: $0.holdsMotion) }, matches: matches)
    }

    init(
        _ format: ImageFormat, extensions: [String], aliases: [String] = [], decoder: any ImageDecoding,
        encoder: (any ImageEncoding)? = nil, substitute: ImageFormat? = nil, negotiation: Negotiation?,
        matches: @escaping @Sendable (_ bytes: [UInt8]) -> Bool
    ) {
        self.format = format
        self.extensions = extensions
        self.aliases = aliases
        self.decoder = decoder
        self.encoder = encoder
        self.substitute = substitute
        self.negotiation = negotiation
        isMatch = matches
    }

    /// Whether the format is only decoded in processes of its own.
    package var needsIsolation: Bool { decoder is ConfinedDecoder }

    /// Returns the same codec with a decoder that does its work elsewhere.
    package func decoding(by decoder: any RemoteDecoding) -> ImageCodec {
        ImageCodec(
            format, extensions: extensions, aliases: aliases, decoder: decoder, encoder: encoder,
            substitute: substitute,
            negotiation: negotiation, matches: isMatch)
    }

    /// The decoder for loads of a partition.
    package func decoder(serving partition: String?) -> any ImageDecoding {
        decoder.remote?.serving(partition) ?? decoder
    }

    /// Whether bytes begin as a file of this format does. They need not be a whole file, and may be damaged further on.
    package func matches(_ bytes: [UInt8]) -> Bool { isMatch(bytes) }
}

/// How a format is chosen by a client's `Accept` field.
struct Negotiation: Sendable, Hashable {
    /// Among formats of equal weight, the lowest rank wins. The format that compresses best has the lowest.
    let rank: Int
    /// Whether the field has to name the format: `image/*` and `*/*` are also sent by clients that can't read it.
    var needsName = true
    /// Whether still pictures are written in it.
    var holdsStills = true
    /// Whether animations are written in it.
    let holdsMotion: Bool
}
