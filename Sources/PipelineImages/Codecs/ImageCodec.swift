public import Pipeline

/// One image format: how its files are recognized, read and written.
///
/// A format of your own is one constant. A list of codecs takes it with ``ImageCodecs/adding(_:)``:
///
/// ```swift
/// extension ImageCodec {
///     static let qoi = ImageCodec(
///         ImageFormat(rawValue: "image/qoi"), extensions: ["qoi"], decoder: QOIDecoder(), encoder: QOIEncoder()
///     ) { $0.starts(with: "qoif".utf8) }
/// }
/// ```
///
/// Codecs are compared by identity where equal loads share their work, so a codec belongs in a constant.
public final class ImageCodec: Sendable {
    /// The format, by its media type.
    public let format: ImageFormat
    /// The extensions of the format's files, in lower case and without the dot. New files get the first one.
    public let extensions: [String]
    /// Reads the format.
    public let decoder: any ImageDecoding
    /// Writes the format; `nil` for a format that is only read.
    public let encoder: (any ImageEncoding)?

    /// Media types that servers also use for the format, in lower case.
    package let aliases: [String]
    /// The format that a file is converted to where its own can't be written; `nil` for PNG.
    package let substitute: ImageFormat?
    /// How the format takes part in content negotiation; `nil` if it never does.
    let negotiation: Negotiation?
    private let isMatch: @Sendable ([UInt8]) -> Bool

    /// Describes a format.
    ///
    /// Clients get the format only where their `Accept` field names it, see ``AcceptedFormats``.
    /// - Parameters:
    ///   - format: The media type.
    ///   - extensions: The extensions of its files, in lower case and without the dot.
    ///   - aliases: Further media types that servers use for it, in lower case.
    ///   - decoder: Reads it.
    ///   - encoder: Writes it; by default nothing does.
    ///   - matches: Whether a file begins as one of this format. It gets the whole file or any part from its beginning.
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

    /// Whether bytes begin as a file of this format does. They need not be a whole file, and may be damaged further on.
    public func matches(_ bytes: [UInt8]) -> Bool { isMatch(bytes) }
}

/// When a client's Accept field leads to a format.
struct Negotiation: Sendable, Hashable {
    /// Among formats of equal weight the lowest rank wins: the one that packs best.
    let rank: Int
    /// Whether the field has to name the format: `image/*` and `*/*` are also sent by clients that can't read it.
    var needsName = true
    /// Whether still pictures are written in it.
    var holdsStills = true
    /// Whether animations are written in it.
    let holdsMotion: Bool
}
