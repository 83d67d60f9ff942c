#if PNG
import Pipeline

/// Decodes PNG. The file is inflated with libdeflate, and rows are scaled as they are unfiltered.
///
/// Rare files are left to libvips: interlaced ones, those with one transparent colour, pictures of more than 16 MB, and
/// damaged ones.
///
/// Colours are those of the chunk `cICP`, else of an ICC profile, else sRGB. The chunks `gAMA` and `cHRM` are ignored, as most programs for
/// thumbnails do. Browsers apply them if there is no profile.
struct PNGDecoder: ImageDecoding {
    /// The most bytes that are inflated in one go, which can't be stopped and takes 2.5 ms a megabyte.
    private static let longestInflation = 16 << 20

    /// Reads the file's chunks.
    func header(of bytes: [UInt8], cancellation: WorkCancellation) throws -> ImageHeader {
        let file = try PNGFile(bytes, cancellation)
        var header = ImageHeader(
            format: .png, storedSize: file.size, orientation: file.orientation,
            hasAlpha: file.color == .rgba || file.color == .grayAlpha || file.transparency != nil,
            hasProfile: file.hasProfile, bitsPerChannel: file.depth)
        header.readsRegions = true
        header.colors = [.gray, .grayAlpha].contains(file.color) ? .gray : .rgb
        header.unreadFrames = file.animationFrames ?? 0
        let length = file.inflatedLength ?? .max
        header.memory = file.isInterlaced || length <= Self.longestInflation ? length : 0
        // libvips gets a copy without the other chunks; otherwise the pieces are joined.
        header.memory = header.memory.saturatingPlus(file.compressedLength).saturatingPlus(file.listLength)
        header.profileBytes = file.profile?.count ?? 0
        header.codedColors = file.codedColors
        header.convertedColors = file.decisiveColors.flatMap { $0.differsFromSRGB ? $0 : nil }
        return header
    }

    /// Decodes at the exact size that fits the box.
    func decode(
        _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions, cancellation: WorkCancellation
    ) throws -> DecodedImage {
        let file = try PNGFile(bytes, cancellation)
        let size = header.storedSize(for: box)
        let window = header.storedRegion
        let plan = ResamplePlan(from: window.size, to: size, reserve: options.quality.blockReserve)
        guard let rows = PNGRows(file), let pixels = try pixels(of: file, rows, plan, window, cancellation) else {
            return try VipsDecoder.png.decode(
                file.pixelsAlone(cancellation), header: header, box: box, options: options, cancellation: cancellation
            ).converted(from: file.profile ?? [], cancellation: cancellation)
        }
        var header = header
        // The tones of deep samples were mapped row by row.
        if rows.mapsTones { header.convertedColors = nil }
        return try header.image(pixels, size: size, layout: rows.layout, profile: file.profile, cancellation)
    }

    func metadata(of bytes: [UInt8], cancellation: WorkCancellation) throws -> EmbeddedMetadata {
        try PNGMetadata.read(bytes, cancellation)
    }

    /// Returns the scaled picture; `nil` if the file is damaged.
    private func pixels(
        of file: PNGFile, _ rows: PNGRows, _ plan: ResamplePlan, _ window: PixelRegion,
        _ cancellation: WorkCancellation
    ) throws -> [UInt8]? {
        guard !file.isDamaged, let length = file.inflatedLength, length <= Self.longestInflation else { return nil }
        let inflated = UnsafeMutableRawBufferPointer.allocate(byteCount: length, alignment: 16)
        defer { inflated.deallocate() }
        try cancellation.check()
        guard Inflation.inflate(file.stream, into: inflated) == length else { return nil }
        let sink = try RowSink(
            plan, window: window, of: file.size.width, layout: rows.layout, cancellation: cancellation)
        for y in 0..<window.bottom {
            if y % 32 == 0 { try cancellation.check() }
            guard let row = rows.row(y, of: inflated) else { return nil }
            sink.push(row)
        }
        return sink.finish()
    }
}
#endif
