public import Pipeline

/// Decodes HEIC with libheif. Only coded pictures reach it, which were read and checked before.
///
/// A picture in tiles, as phones write it, is decoded tile by tile, and can stop between two. One in a single piece is
/// decoded in one go.
public struct HEICDecoder: ImageDecoding {
    /// HEIC.
    public let formats: Set<ImageFormat> = [.heic]

    /// Makes a decoder; libheif is loaded when it is first used.
    public init() {}

    /// Reads the file's list of items, and the headers of what is coded in it.
    public func header(
        of bytes: [UInt8], format: ImageFormat, cancellation: WorkCancellation
    ) throws -> ImageHeader {
        try HEIFStill(bytes, format: format, cancellation: cancellation).header
    }

    /// Decodes the primary picture, cropped and turned as the file says; with ``DecodeQuality/fast`` its thumbnail, where
    /// that is large enough.
    public func decode(
        _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions, cancellation: WorkCancellation
    ) throws -> DecodedImage {
        try HEIFStill(bytes, format: header.format, cancellation: cancellation)
            .decode(box: box, options: options, cancellation: cancellation)
    }
}
