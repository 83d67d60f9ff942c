import Stages

/// The picture that a path asks for, whichever dialect the path is written in.
struct PictureRequest: Sendable {
    /// The source as the path names it: an http or https URL, or a file's name in the folder.
    var source: String
    /// The stages between `Decode` and `Encode`.
    var stages: [any Stage] = []
    /// The format of the result; `nil` lets the client's `Accept` field decide.
    var format: ImageFormat?
    /// The quality, from 1 to 100; `nil` for the server's.
    var quality: Int?
    /// The most bytes of the result; `nil` for no limit.
    var maxBytes: Int?
    /// The name under which browsers save the result, without its extension; `nil` for the source's.
    var fileName: String?
    /// Whether browsers save the result rather than show it.
    var isAttachment = false
    /// When the path stops being valid, in seconds since 1970; `nil` for never.
    var expires: Int?
    /// The formats whose files are passed on as they are, unless the path asks for another format.
    var skippedFormats: Set<ImageFormat> = []
    /// The client's hints, if the result depends on them.
    var hints: ClientHints?
}

extension PictureRequest {
    /// The formats by the extensions that paths name them with.
    static let formats: [String: ImageFormat] = [
        "jpg": .jpeg, "jpeg": .jpeg, "png": .png, "webp": .webp, "avif": .avif, "gif": .gif, "tif": .tiff,
        "tiff": .tiff,
    ]

    /// Reads a format by its extension.
    static func format(_ text: some StringProtocol) throws(Problem) -> ImageFormat {
        guard let format = formats[text.lowercased()] else {
            throw Problem(.badRequest, "This server doesn't write \(text). Ask for jpg, png, webp, avif, gif or tif.")
        }
        return format
    }
}
