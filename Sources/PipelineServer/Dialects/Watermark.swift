public import PipelineImages
import Pipeline

/// A picture of the server's own that paths may ask for on top of theirs.
///
/// imgproxy's paths have it with the option `watermark`, and ``ThumbDialect`` with `watermark` or `watermark=southEast`.
public struct Watermark: Sendable {
    let picture: DecodedImage
    let opacity: Double
    let digest: BLAKE2bDigest

    /// Makes a watermark of a picture.
    /// - Parameters:
    ///   - picture: The picture; of an animation its first frame.
    ///   - opacity: Its opacity, from 0, invisible, to 1, the default. Paths may lower it further.
    public init(_ picture: DecodedImage, opacity: Double = 1) {
        self.picture = DecodedImage(size: picture.size, layout: picture.layout, frames: [picture.frames[0]])
        self.opacity = opacity.isFinite ? min(1, max(0, opacity)) : 1
        digest = BLAKE2bDigest(of: picture.frames[0].bytes)
    }

    /// Reads and decodes a file, on the calling thread, while the server starts.
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - opacity: The opacity, from 0, invisible, to 1, the default.
    ///   - codecs: The formats that the file may have.
    /// - Throws: `LoadError` with the path for a file that can't be read or decoded.
    public init(file path: String, opacity: Double = 1, codecs: ImageCodecs = .standard) throws {
        self.init(try DecodedImage(file: path, codecs: codecs, limits: ImageLimits()), opacity: opacity)
    }
}
