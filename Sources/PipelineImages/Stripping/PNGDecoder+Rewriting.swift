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
        _ bytes: [UInt8], exif: [UInt8], xmp: [UInt8], without metadata: StrippedMetadata,
        _ cancellation: WorkCancellation
    ) throws -> [UInt8] {
        var result = Array(bytes.prefix(8))
        result.reserveCapacity(bytes.count)
        var blocks = EmbeddedMetadata(exif: exif, xmp: xmp)
        func write(_ block: EmbeddedMetadata) {
            var writer = PNGWriter()
            writer.write(block)
            result += writer.chunks
        }
        var chunks = PNGChunks(bytes, cancellation)
        while let chunk = try chunks.next() {
            // A new block takes the place of the old one, or comes before the pixels.
            if chunk.kind == .exif || chunk.kind == .pixels {
                write(EmbeddedMetadata(exif: blocks.exif))
                blocks.exif = []
            }
            if chunk.kind == .text && Self.isXMP(chunk, bytes) || chunk.kind == .pixels {
                write(EmbeddedMetadata(xmp: blocks.xmp))
                blocks.xmp = []
            }
            if chunk.kind == .provenance {
                if metadata.keepsProvenance, ManifestStore.begins(bytes[chunk.body]) { result += bytes[chunk.whole] }
            } else if chunk.isCritical || Self.looks.contains(chunk.letters)
                || metadata.isLocation && Self.isText(chunk, bytes)
            {
                result += bytes[chunk.whole]
            }
            if chunk.kind == .end { return result }
        }
        throw PNGFile.damaged("it has no end")
    }

    /// Whether a chunk isn't among the replaced metadata, which some programs also write as texts.
    private static func isText(_ chunk: PNGChunk, _ bytes: [UInt8]) -> Bool {
        chunk.kind != .exif && !isXMP(chunk, bytes) && !bytes[chunk.body].starts(with: "Raw profile type ".utf8)
    }

    private static func isXMP(_ chunk: PNGChunk, _ bytes: [UInt8]) -> Bool {
        bytes[chunk.body].starts(with: "XML:com.adobe.xmp".utf8)
    }
}
#endif
