import Pipeline

extension ImageCodec {
    /// TIFF, read by libtiff.
    public static let tiff = ImageCodec(
        .tiff, extensions: ["tif", "tiff"], aliases: ["image/tif", "image/x-tiff"], decoder: TIFFDecoder(),
        encoder: TIFFEncoder(), negotiation: nil
    ) {
        // Classic TIFF has the number 42 after its byte order, BigTIFF 43.
        $0.has("II*\0") || $0.has("MM\0*") || $0.has("II+\0") || $0.has("MM\0+")
    }
}
