#if TIFF
import CTIFF
import Pipeline

/// Encodes TIFF (TIFF 6.0) with libtiff, strip by strip.
struct TIFFEncoder: ImageEncoding {
    let holdsProfile = true
    let holdsDepth = true
    let defaults = EncodeOptions.TIFF()

    func values(of options: EncodeOptions.TIFF) -> [(name: String, value: String)] {
        [("compression", "\(options.compression)")]
    }

    /// The most bytes of pixels in a strip of several rows.
    private static let stripLength = 1 << 18

    func encode(
        _ image: DecodedImage, quality: Int, options: EncodeOptions.TIFF, metadata: EmbeddedMetadata,
        cancellation: WorkCancellation
    ) throws -> [UInt8] {
        let channels = image.layout.channelCount
        let rowLength = image.width * image.layout.bytesPerPixel
        let stripHeight = min(image.height, max(1, Self.stripLength / rowLength))
        var failure = ctiff_failure()
        let picture = ctiff_picture(
            width: UInt32(image.width), height: UInt32(image.height), channels: Int32(channels),
            bits: image.layout.isDeep ? 16 : 8, strip_rows: UInt32(stripHeight), compression: options.compression.number
        )
        guard let writer = ctiff_writer_new(picture, &failure) else { throw Self.refused(failure) }
        defer { ctiff_writer_free(writer) }
        metadata.write(to: writer)
        try image.withBytes { pixels in
            guard let start = pixels.baseAddress else { return }
            for (strip, top) in stride(from: 0, to: image.height, by: stripHeight).enumerated() {
                try cancellation.check()
                let count = min(stripHeight, image.height - top) * rowLength
                guard ctiff_writer_add(writer, UInt32(strip), start + top * rowLength, count, &failure) else {
                    throw Self.refused(failure)
                }
            }
        }
        var count = 0
        guard let start = ctiff_writer_finish(writer, &count, &failure) else { throw Self.refused(failure) }
        return Array(UnsafeBufferPointer(start: start, count: count))
    }

    private static func refused(_ failure: ctiff_failure) -> LoadError {
        LoadError(.unencodable, subject: "", "The picture can't be written as image/tiff (\(failure.words)).")
    }
}

extension EncodeOptions.TIFF.Compression {
    /// Its number in TIFF 6.0 and its supplements.
    fileprivate var number: Int32 {
        switch self {
        case .none: 1
        case .lzw: 5
        case .deflate: 8
        }
    }
}

extension EmbeddedMetadata {
    /// Writes the metadata that a TIFF can hold: EXIF's texts, XMP and the profile.
    fileprivate func write(to writer: OpaquePointer) {
        if let block = EXIFBlock(exif) {
            let entries = block.mainEntries
            for tag in EXIFBlock.Tag.texts {
                guard let text = block.characters(tag, in: entries) else { continue }
                (text + [0]).withUnsafeBytes { text in
                    guard let start = text.baseAddress else { return }
                    ctiff_writer_set_text(writer, UInt32(tag), start.assumingMemoryBound(to: CChar.self))
                }
            }
        }
        if !xmp.isEmpty { ctiff_writer_set_bytes(writer, UInt32(EXIFBlock.Tag.xmp), xmp, xmp.count) }
        if !profile.isEmpty { ctiff_writer_set_bytes(writer, UInt32(EXIFBlock.Tag.profile), profile, profile.count) }
    }
}
#endif
