#if BMP
import Pipeline

extension ImageCodec {
    /// Windows bitmaps, read-only.
    public static let bmp = ImageCodec(
        .bmp, extensions: ["bmp", "dib"], aliases: ["image/x-bmp", "image/x-ms-bmp"], decoder: BMPDecoder(),
        negotiation: nil
    ) { bytes in
        // Many texts begin with "BM", but the second header has one of few sizes.
        guard bytes.has("BM"), let headerSize = bytes[...].littleEndianNumber(at: 14, bytes: 4) else { return false }
        return [12, 16, 40, 52, 56, 64, 108, 124].contains(headerSize)
    }
}
#endif
