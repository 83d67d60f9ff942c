#if PNG
import CDeflate
import Pipeline

/// Writes a PNG file chunk by chunk (ISO/IEC 15948 clause 5).
struct PNGWriter {
    private var bytes: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

    /// The chunks written so far, without the signature.
    var chunks: ArraySlice<UInt8> { bytes[8...] }

    /// Writes the header (clause 11.2.2) with 8 or 16 bits a sample, not interlaced.
    mutating func writeHeader(_ size: PixelSize, _ layout: PixelLayout) {
        let color: UInt8 = (layout.channelCount < 3 ? 0 : 2) + (layout.hasAlpha ? 4 : 0)
        writeChunk(
            "IHDR", size.width.bigEndian(4) + size.height.bigEndian(4) + [layout.isDeep ? 16 : 8, color, 0, 0, 0])
    }

    /// Writes the header for a palette, with the bits of an index.
    mutating func writeHeader(_ size: PixelSize, bits: Int) {
        writeChunk("IHDR", size.width.bigEndian(4) + size.height.bigEndian(4) + [UInt8(bits), 3, 0, 0, 0])
    }

    /// Writes the palette and the alphas of its translucent colours, which come first (clauses 11.2.3 and 11.3.2.1).
    /// The chunks belong after the profile and before the pixels.
    mutating func write(_ palette: Palette) {
        let indices = 0..<palette.count
        writeChunk("PLTE", indices.flatMap { palette.colors[4 * $0..<4 * $0 + 3] })
        let alphas = indices.map { palette.colors[4 * $0 + 3] }.prefix { $0 < 255 }
        if !alphas.isEmpty { writeChunk("tRNS", alphas) }
    }

    /// Writes profile, EXIF and XMP. The chunks belong before the pixels.
    mutating func write(_ metadata: EmbeddedMetadata) {
        // Programs that don't know cICP (clause 11.3.2.6) read the profile.
        if let colors = metadata.colors {
            writeChunk("cICP", [colors.primaries, colors.transfer, 0, 1].map { UInt8(clamping: $0) })
        }
        if let blocks = metadata.mastering?.blocks(isPNG: true) {
            if !blocks.display.isEmpty { writeChunk("mDCV", blocks.display) }
            if !blocks.light.isEmpty { writeChunk("cLLI", blocks.light) }
        }
        if !metadata.profile.isEmpty, let packed = Deflation.zlibStream(of: metadata.profile, level: 9) {
            writeChunk("iCCP", Array("icc\0\0".utf8) + packed)
        }
        if !metadata.exif.isEmpty { writeChunk("eXIf", metadata.exif) }
        // Uncompressed, without a language or a translated keyword.
        if !metadata.xmp.isEmpty { writeChunk("iTXt", Array("XML:com.adobe.xmp\0\0\0\0\0".utf8) + metadata.xmp) }
    }

    /// Deflates the rows and ends the file.
    /// - Parameters:
    ///   - rows: The rows, each preceded by the number of its filter.
    ///   - level: The compression level, from 0, none, to 9.
    /// - Throws: `LoadError.Code.unencodable` if memory can't be allocated.
    mutating func finish(_ rows: [UInt8], level: Int) throws(LoadError) -> [UInt8] {
        let stream = try Self.deflated(rows, level: level)
        // Reserves once, including the chunks' own bytes, since a growing array is copied each time.
        bytes.reserveCapacity(bytes.count + stream.count + 1024)
        writePixels(stream)
        return end()
    }

    /// Compresses rows.
    /// - Throws: `LoadError.Code.unencodable` if memory can't be allocated.
    static func deflated(_ rows: [UInt8], level: Int) throws(LoadError) -> [UInt8] {
        guard let stream = Deflation.zlibStream(of: rows, level: level) else {
            throw LoadError(.unencodable, subject: "", "The picture can't be deflated: out of memory.")
        }
        return stream
    }

    /// The most bytes of pixels in a chunk, which has at most 2 GB (clause 5.3).
    static let longestChunk = 1 << 30

    /// Writes the compressed pixels.
    mutating func writePixels(_ stream: [UInt8]) {
        for start in stride(from: 0, to: stream.count, by: Self.longestChunk) {
            writeChunk("IDAT", stream[start..<min(stream.count, start + Self.longestChunk)])
        }
    }

    /// Ends the file.
    mutating func end() -> [UInt8] {
        writeChunk("IEND", [])
        return bytes
    }

    /// Writes a chunk with its length and checksum.
    mutating func writeChunk(_ type: String, _ body: some Collection<UInt8>) {
        bytes += body.count.bigEndian(4)
        let start = bytes.count
        bytes += type.utf8
        bytes += body
        let sum = bytes[start...].withUnsafeBytes { libdeflate_crc32(0, $0.baseAddress, $0.count) }
        bytes += sum.bigEndian(4)
    }
}
#endif
