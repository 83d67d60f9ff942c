import CImages
import Pipeline

/// Encodes TIFF (TIFF 6.0), strip by strip.
struct TIFFEncoder: ImageEncoding {
    let defaults = EncodeOptions.TIFF()

    func values(of options: EncodeOptions.TIFF) -> [(name: String, value: String)] {
        [("compression", "\(options.compression)")]
    }

    /// The most bytes of pixels in a strip that has more than one row.
    private static let stripLength = 1 << 18

    func encode(
        _ image: DecodedImage, quality: Int, options: EncodeOptions.TIFF, metadata: EmbeddedMetadata,
        cancellation: WorkCancellation
    ) throws -> [UInt8] {
        try cancellation.check()
        let compression = options.compression
        let rowLength = image.width * image.layout.channelCount
        let stripHeight = min(image.height, max(1, Self.stripLength / rowLength))
        var file = TIFFWriter(capacity: 4096 + rowLength * image.height + metadata.profile.count + metadata.xmp.count)
        let strip = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: stripHeight * rowLength)
        defer { strip.deallocate() }
        for top in stride(from: 0, to: image.height, by: stripHeight) {
            let rows = top..<min(image.height, top + stripHeight)
            let bytes = UnsafeMutableBufferPointer(rebasing: strip[..<(rows.count * rowLength)])
            try write(rows, of: image, isPacked: compression != .none, to: bytes, cancellation)
            file.beginStrip()
            try pack(UnsafeBufferPointer(bytes), compression, cancellation) { file.write($0) }
        }
        return try file.finish(entries(image, compression, stripHeight: stripHeight) + metadata.tiffEntries)
    }

    /// Rows as they are packed: each pixel less the one on its left (section 14), which is what PNG calls Sub, if they
    /// are packed at all.
    private func write(
        _ rows: Range<Int>, of image: DecodedImage, isPacked: Bool, to strip: UnsafeMutableBufferPointer<UInt8>,
        _ cancellation: WorkCancellation
    ) throws {
        let rowLength = image.width * image.layout.channelCount
        let filter: Int32 = isPacked ? 1 : 0
        try image.withPixels { pixels in
            guard let pixels = pixels.baseAddress, let out = strip.baseAddress else { return }
            for (index, y) in rows.enumerated() {
                if index % 64 == 0 { try cancellation.check() }
                let row = pixels + y * rowLength
                cpng_filter(filter, row, row, out + index * rowLength, rowLength, image.layout.channelCount)
            }
        }
    }

    private func pack(
        _ strip: UnsafeBufferPointer<UInt8>, _ compression: EncodeOptions.TIFF.Compression,
        _ cancellation: WorkCancellation, to write: (UnsafeBufferPointer<UInt8>) -> Void
    ) throws {
        switch compression {
        case .none: write(strip)
        case .lzw: try TIFFLZW().pack(strip, cancellation, to: write)
        case .deflate: try DeflateStream(level: 6).deflate(strip, isLast: true, cancellation, to: write)
        }
    }

    private func entries(
        _ image: DecodedImage, _ compression: EncodeOptions.TIFF.Compression, stripHeight: Int
    ) -> [TIFFEntry] {
        let channels = image.layout.channelCount
        let number = [EncodeOptions.TIFF.Compression.none: 1, .lzw: 5, .deflate: 8][compression] ?? 1
        return [
            .long(256, [image.width]), .long(257, [image.height]), .short(258, Array(repeating: 8, count: channels)),
            .short(259, [number]), .short(262, [channels == 1 ? 1 : 2]), .short(277, [channels]),
            .long(278, [stripHeight]), .fraction(282, 72), .fraction(283, 72), .short(296, [2]),
        ] + (compression == .none ? [] : [.short(317, [2])])
            // Colours that are not multiplied by it.
            + (image.layout.hasAlpha ? [.short(338, [2])] : [])
    }
}

extension EmbeddedMetadata {
    /// What a TIFF has a place for: EXIF's texts, XMP and the profile.
    fileprivate var tiffEntries: [TIFFEntry] {
        let texts = EXIFBlock(exif).map { block in
            let entries = block.mainEntries
            return EXIFBlock.Tag.texts.compactMap { tag in
                block.characters(tag, in: entries).map { TIFFEntry.text(tag, $0) }
            }
        }
        return (texts ?? []) + (xmp.isEmpty ? [] : [.block(EXIFBlock.Tag.xmp, type: 1, xmp)])
            + (profile.isEmpty ? [] : [.block(EXIFBlock.Tag.profile, type: 7, profile)])
    }
}
