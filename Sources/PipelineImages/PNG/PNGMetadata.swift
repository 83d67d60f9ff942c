#if PNG
import Pipeline

/// Reads the metadata of a PNG file (ISO/IEC 15948 clause 11.3): of each kind the first block whose checksum
/// is correct.
enum PNGMetadata {
    static func read(_ bytes: [UInt8], _ cancellation: WorkCancellation) throws -> EmbeddedMetadata {
        var metadata = EmbeddedMetadata()
        metadata.mastering = try MasteringMetadata(inPNG: bytes, cancellation)
        var chunks = PNGChunks(bytes, cancellation)
        var (hasEXIF, hasProfile, hasXMP) = (false, false, false)
        while let chunk = try chunks.next() {
            let body = bytes[chunk.body]
            switch chunk.kind {
            case .exif where !hasEXIF && chunk.isWhole(in: bytes):
                hasEXIF = true
                metadata.exif = EmbeddedMetadata.exif(Array(body))
            case .profile where !hasProfile && chunk.isWhole(in: bytes):
                hasProfile = true
                metadata.profile = PNGFile.profile(in: body) ?? []
            case .text where !hasXMP && body.starts(with: keyword) && chunk.isWhole(in: bytes):
                hasXMP = true
                metadata.xmp = xmp(body) ?? []
            default: break
            }
        }
        return metadata
    }

    private static let keyword = Array("XML:com.adobe.xmp\0".utf8)

    /// Reads an iTXt chunk: the keyword, whether the text is compressed, the method, the language, the translated
    /// keyword, and the text.
    private static func xmp(_ body: ArraySlice<UInt8>) -> [UInt8]? {
        guard let packed = body.number(at: keyword.count, bytes: 1) else { return nil }
        let names = body.dropFirst(keyword.count + 2)
        guard let language = names.firstIndex(of: 0), let translated = names[(language + 1)...].firstIndex(of: 0)
        else { return nil }
        let text = names[(translated + 1)...]
        // At most 4 MB. Deflate compresses to a thousandth at most.
        return packed == 0 ? Array(text) : Inflation.bytes(of: text, upTo: min(4 << 20, text.count * 1040))
    }
}
#endif
