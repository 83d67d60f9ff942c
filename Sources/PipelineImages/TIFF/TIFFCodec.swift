#if TIFF
import Pipeline

extension ImageCodec {
    /// TIFF by libtiff.
    public static let tiff = ImageCodec(
        .tiff, extensions: ["tif", "tiff"], aliases: ["image/tif", "image/x-tiff"], decoder: TIFFDecoder(),
        encoder: TIFFEncoder(), negotiation: nil
    ) {
        // After the byte order, classic TIFF has the number 42, BigTIFF 43.
        $0.has("II*\0") || $0.has("MM\0*") || $0.has("II+\0") || $0.has("MM\0+")
    }
}
#endif
