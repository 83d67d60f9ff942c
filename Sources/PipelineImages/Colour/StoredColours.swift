import Pipeline

/// How a file stores its colours, where the header of a decoder says only what comes out of it.
struct StoredColours {
    let bits: Int
    let model: ImageMetadata.ColourModel

    init(
        _ bytes: [UInt8], _ header: ImageHeader, _ profile: ICCProfile?, _ cancellation: WorkCancellation
    ) throws {
        var bits = header.bitsPerChannel
        var model: ImageMetadata.ColourModel =
            profile?.space == "GRAY" ? .grey : profile?.space == "CMYK" ? .cmyk : .rgb
        switch header.format {
        case .jpeg:
            let segments = try JPEGSegments(bytes, cancellation)
            bits = segments.bits
            model = segments.components == 1 ? .grey : segments.components == 4 ? .cmyk : .rgb
        case .png:
            // Clause 11.2.2: depth and colour stand behind the size.
            bits = bytes[...].number(at: 24, bytes: 1) ?? bits
            model = [0, 4].contains(bytes[...].number(at: 25, bytes: 1) ?? 2) ? .grey : .rgb
        case .avif, .heic:
            let still = try? HEIFStill(bytes, format: header.format, cancellation: WorkCancellation())
            bits = still?.picture.first.bits ?? bits
        case .tiff:
            guard let file = EXIFBlock(bytes) else { break }
            func value(_ tag: Int) -> Int? {
                file.mainEntries.first { $0.tag == tag && $0.type == 3 }.flatMap { file.number(at: $0.value, bytes: 2) }
            }
            // TIFF 6.0 section 8: BitsPerSample and PhotometricInterpretation.
            bits = value(0x0102) ?? bits
            let photometric = value(0x0106) ?? 2
            model = photometric < 2 ? .grey : photometric == 5 ? .cmyk : .rgb
        default: break
        }
        self.bits = bits
        self.model = model
    }
}
