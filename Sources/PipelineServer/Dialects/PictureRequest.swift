import HTTPTypes
public import Stages

/// The picture that a path asks for, whichever dialect the path is written in.
public struct PictureRequest: Sendable {
    /// The source as the path names it: an http, https or `s3:` URL, or a file's name in the folder.
    public var source: String
    /// Stages that refuse a source, or a request for it, by the file's header before it is decoded; none by default.
    public var checks: [any Stage] = []
    /// The stages between `Decode` and `Encode`; none by default. Equal work needs equal signatures, so put the options
    /// into one order, in whichever order a path names them.
    public var stages: [any Stage]
    /// The format of the result; `nil`, the default, lets the client's `Accept` field decide.
    public var format: ImageFormat?
    /// The quality, from 1 to 100; `nil`, the default, for the server's.
    public var quality: Int?
    /// The quality of formats that have another one than the server's, where ``quality`` is `nil`; none by default.
    public var qualities: [ImageFormat: Int] = [:]
    /// The most bytes of the result; `nil`, the default, for no limit.
    public var maxBytes: Int?
    /// The colours of the result; `nil`, the default, for the source's, where its format can say which they are.
    public var gamut: Gamut?
    /// The name under which browsers save the result, without its extension; `nil`, the default, for the source's.
    public var fileName: String?
    /// Whether browsers save the result rather than show it; by default not.
    public var isAttachment = false
    /// When the path stops being valid, in seconds since 1970; `nil`, the default, for never. It is for an expiry among
    /// the options; one with the signature is in ``SignedText``.
    public var expires: Int?
    /// The formats whose files are passed on as they are, unless the path asks for another format; none by default.
    public var skippedFormats: Set<ImageFormat> = []
    /// Whether other parts of the same source are likely to follow, as with a viewer's tiles: the decoded source is kept
    /// in memory for them. By default they aren't.
    public var isTile = false
    /// The client's hints, if the result depends on them; `nil`, the default, if not.
    public var hints: ClientHints?
    /// Makes the field `Link` of the response (RFC 8288) from the source's size in pixels; none by default.
    public var link: (@Sendable (PixelSize) -> String)?

    /// Asks for a source as it is, in the format that suits the client.
    public init(source: String, stages: [any Stage] = [], hints: ClientHints? = nil) {
        (self.source, self.stages, self.hints) = (source, stages, hints)
    }
}

extension PictureRequest {
    /// The sources of all overlays, in the order of the stages.
    var overlays: [String] { stages.flatMap { ($0 as? Overlaid)?.sources ?? [] } }

    /// The same picture with its overlays, which are in the order of ``overlays``.
    func laid(under overlays: [Overlaid.Overlay]) -> PictureRequest {
        var (own, rest) = (self, overlays[...])
        own.stages = stages.map { stage in
            guard var work = stage as? Overlaid else { return stage }
            work.overlays = Array(rest.prefix(work.sources.count))
            rest = rest.dropFirst(work.sources.count)
            return work
        }
        return own
    }

    /// The formats that are written, by the extensions that paths name them with, such as `jpg`.
    public static let formats: [String: ImageFormat] = [
        "jpg": .jpeg, "jpeg": .jpeg, "png": .png, "webp": .webp, "avif": .avif, "gif": .gif, "tif": .tiff,
        "tiff": .tiff,
    ]

    /// Reads a format by its extension.
    /// - Throws: 400 for one that isn't written.
    public static func format(_ text: some StringProtocol) throws(Problem) -> ImageFormat {
        guard let format = formats[text.lowercased()] else {
            throw Problem(.badRequest, "This server doesn't write \(text). Ask for jpg, png, webp, avif, gif or tif.")
        }
        return format
    }
}
