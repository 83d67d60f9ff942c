import Pipeline

extension ImageCodec {
    /// Windows bitmaps; they are only read.
    public static let bmp = ImageCodec(
        .bmp, extensions: ["bmp", "dib"], aliases: ["image/x-bmp", "image/x-ms-bmp"], decoder: BMPDecoder(),
        negotiation: nil
    ) { bytes in
        // "BM" begins many texts. The size of the second header is one of few.
        guard bytes.has("BM"), let headerSize = bytes[...].littleEndianNumber(at: 14, bytes: 4) else { return false }
        return [12, 16, 40, 52, 56, 64, 108, 124].contains(headerSize)
    }
}
