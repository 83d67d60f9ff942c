#if HEIC
import CHEIF
import Pipeline

/// Decodes HEIC with libheif. libheif only gets coded pictures that were parsed and checked before.
///
/// A tiled picture, as phones write it, is decoded tile by tile and can stop in between. Any other is decoded in one
/// go.
struct HEICDecoder: PreparedOnDemand {
    /// libheif decodes a tile in one go, which may be the whole picture.
    let canBeStopped = false

    func prepare() {
        var failure = cheif_failure()
        _ = cheif_is_available(&failure)
    }

    /// Reads the file's list of items, and the headers of its coded pictures.
    func header(of bytes: [UInt8], cancellation: WorkCancellation) throws -> ImageHeader {
        try HEIFStill(bytes, format: .heic, cancellation: cancellation).header
    }

    func metadata(of bytes: [UInt8], cancellation: WorkCancellation) throws -> EmbeddedMetadata {
        let still = try HEIFStill(bytes, format: .heic, cancellation: cancellation)
        return still.file.metadata(of: still.picture)
    }

    /// Decodes the primary picture, cropped and turned as the file says. ``DecodeQuality/fast`` decodes its thumbnail
    /// if that is large enough.
    func decode(
        _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions, cancellation: WorkCancellation
    ) throws -> DecodedImage {
        try HEIFStill(bytes, format: header.format, cancellation: cancellation)
            .decode(header, box: box, options: options, cancellation: cancellation)
    }
}
#endif
