#if WebP
import CWebP
import Pipeline

extension WebPDecoder: MetadataRewriting {
    /// The chunks that the picture consists of (RFC 9649 section 2.7).
    private static let looks: Set<String> = ["VP8 ", "VP8L", "VP8X", "ALPH", "ANIM", "ANMF", "ICCP"]

    func rewritten(
        _ bytes: [UInt8], exif: [UInt8], xmp: [UInt8], keepsTexts: Bool, _ cancellation: WorkCancellation
    ) throws -> [UInt8] {
        var names: Set<String> = ["EXIF", "XMP "]
        try bytes.withUnsafeBufferPointer { buffer in
            guard try WebPFile(buffer).isWhole else { throw WebPFile.damaged("it ends too soon") }
        }
        // `WebPFile` has limited the number of chunks.
        var position = 12
        while !keepsTexts, let name = bytes[...].slice(at: position, count: 4),
            let length = bytes[...].littleEndianNumber(at: position + 4, bytes: 4)
        {
            let name = String(decoding: name, as: UTF8.self)
            // libwebp takes names of four bytes.
            if !Self.looks.contains(name), name.utf8.count == 4 { names.insert(name) }
            position += 8 + length + length % 2
        }
        return try WebPMetadata.replaced(names, in: bytes, with: EmbeddedMetadata(exif: exif, xmp: xmp))
    }
}
#endif
