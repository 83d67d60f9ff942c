import Pipeline

/// Decodes HEIC with libheif. Only coded pictures reach it, which were read and checked before.
///
/// A picture in tiles, as phones write it, is decoded tile by tile, and can stop between two. One in a single piece is
/// decoded in one go.
struct HEICDecoder: ImageDecoding {
    /// libheif decodes a tile in one go, which may be the whole picture.
    let canBeStopped = false

    /// Reads the file's list of items, and the headers of what is coded in it.
    func header(of bytes: [UInt8], cancellation: WorkCancellation) throws -> ImageHeader {
        try HEIFStill(bytes, format: .heic, cancellation: cancellation).header
    }

    func metadata(of bytes: [UInt8], cancellation: WorkCancellation) throws -> EmbeddedMetadata {
        let still = try HEIFStill(bytes, format: .heic, cancellation: cancellation)
        return still.file.metadata(of: still.picture)
    }

    /// Decodes the primary picture, cropped and turned as the file says; with ``DecodeQuality/fast`` its thumbnail, where
    /// that is large enough.
    func decode(
        _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions, cancellation: WorkCancellation
    ) throws -> DecodedImage {
        try HEIFStill(bytes, format: header.format, cancellation: cancellation)
            .decode(box: box, options: options, cancellation: cancellation)
    }
}
