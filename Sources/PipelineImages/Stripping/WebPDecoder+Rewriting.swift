#if WebP
import Pipeline

extension WebPDecoder: MetadataRewriting {
    /// The chunks that the picture consists of (RFC 9649 section 2.7).
    private static let looks: Set<String> = ["VP8 ", "VP8L", "VP8X", "ALPH", "ANIM", "ANMF", "ICCP"]

    func rewritten(
        _ bytes: [UInt8], exif: [UInt8], xmp: [UInt8], without metadata: StrippedMetadata,
        _ cancellation: WorkCancellation
    ) throws -> [UInt8] {
        var (result, removed) = (Array(bytes.prefix(12)), Set<String>())
        result.reserveCapacity(bytes.count)
        try bytes.withUnsafeBufferPointer { buffer in
            // `WebPFile` limits the number of chunks.
            guard try WebPFile(buffer).isWhole else { throw WebPFile.damaged("it ends too soon") }
            for (name, body) in WebPChunks(buffer) {
                let isKept =
                    name == "C2PA"
                    ? metadata.keepsProvenance && ManifestStore.begins(buffer[body])
                    : Self.looks.contains(name) || metadata.isLocation && !["EXIF", "XMP "].contains(name)
                if isKept {
                    result += buffer[body.lowerBound - 8..<min(body.upperBound + body.count % 2, buffer.count)]
                } else {
                    removed.insert(name)
                }
            }
        }
        result.replaceSubrange(4..<8, with: (result.count - 8).littleEndian(4))
        // The header of features, if there is one, comes first. It tells of EXIF and XMP (section 2.7.1).
        if result[12...].starts(with: "VP8X".utf8), result.count > 20 {
            if removed.contains("EXIF") { result[20] &= ~8 }
            if removed.contains("XMP ") { result[20] &= ~4 }
        }
        return exif.isEmpty && xmp.isEmpty
            ? result : try WebPMetadata.added(EmbeddedMetadata(exif: exif, xmp: xmp), to: result)
    }
}
#endif
