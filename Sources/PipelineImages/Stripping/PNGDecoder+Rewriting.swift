#if PNG
import Pipeline

extension PNGDecoder: MetadataRewriting {
    /// The ancillary chunks that a picture's look depends on, including those of animations (PNG, third edition, clause
    /// 11.3).
    private static let looks: Set<String> = [
        "tRNS", "iCCP", "sRGB", "gAMA", "cHRM", "sBIT", "cICP", "mDCV", "cLLI", "bKGD", "hIST", "pHYs", "acTL", "fcTL",
        "fdAT",
    ]

    func rewritten(
        _ bytes: [UInt8], exif: [UInt8], xmp: [UInt8], keepsTexts: Bool, _ cancellation: WorkCancellation
    ) throws -> [UInt8] {
        var result = Array(bytes.prefix(8))
        result.reserveCapacity(bytes.count)
        var chunks = PNGChunks(bytes, cancellation)
        while let chunk = try chunks.next() {
            if chunk.isCritical || Self.looks.contains(chunk.letters) || keepsTexts && Self.isText(chunk, bytes) {
                result += bytes[chunk.whole]
            }
            switch chunk.kind {
            case .header:
                var writer = PNGWriter()
                writer.write(EmbeddedMetadata(exif: exif, xmp: xmp))
                result += writer.chunks
            case .end: return result
            default: break
            }
        }
        throw PNGFile.damaged("it has no end")
    }

    /// Whether a chunk isn't among the replaced metadata, which some programs also write as texts.
    private static func isText(_ chunk: PNGChunk, _ bytes: [UInt8]) -> Bool {
        if chunk.kind == .exif { return false }
        return !["XML:com.adobe.xmp", "Raw profile type "].contains { bytes[chunk.body].starts(with: $0.utf8) }
    }
}
#endif
