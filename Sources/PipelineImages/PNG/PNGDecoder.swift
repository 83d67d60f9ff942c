#if PNG
import Pipeline

/// Decodes PNG. The file is inflated with libdeflate, and rows are scaled as they are unfiltered. If several frames are
/// wanted, those of an animation are drawn; otherwise the still picture, which need not be one of them.
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
            frames: max(1, file.animation.frames.count),
            loopCount: file.animation.frames.count > 1 ? file.animation.plays : 0, hasAlpha: file.hasAlpha,
            hasProfile: file.hasProfile, bitsPerChannel: file.depth)
        header.readsRegions = true
        header.colors = [.gray, .grayAlpha].contains(file.color) ? .gray : .rgb
        let length = file.inflatedLength ?? .max
        header.memory = file.isInterlaced || length <= Self.longestInflation ? length : 0
        // libvips gets a copy without the other chunks; otherwise the pieces are joined.
        header.memory = header.memory.saturatingPlus(file.compressedLength).saturatingPlus(file.listLength)
            .saturatingPlus(file.animationMemory)
        header.take(profile: file.profile)
        header.hasProvenance = file.hasProvenance
        header.holdsDepth = PNGDeepRows.canRead(file)
        header.codedColors = file.codedColors
        header.convertedColors = file.decisiveColors.flatMap { $0.differsFromSRGB ? $0 : nil }
        return header
    }

    /// Decodes at the exact size that fits the box. A damaged animation, if allowed, has the frames before the damage.
    func decode(
        _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions, cancellation: WorkCancellation
    ) throws -> DecodedImage {
        let file = try PNGFile(bytes, cancellation)
        let size = header.storedSize(for: box)
        if options.frames > 1, !options.allowTruncated, let fault = file.animation.fault {
            throw PNGFile.damaged(fault)
        }
        let count = min(file.animation.frames.count, header.frames, options.frames)
        if count > 1 { return try animation(file, header, size, count, options, cancellation) }
        let window = header.storedRegion
        if header.pixelType == .uint16, let image = try deep(file, header, size, cancellation) { return image }
        var header = header
        // What is left of a damaged file has 8 bits.
        if header.pixelColors.needsDepth { header.pixelColors = .sRGB }
        let plan = ResamplePlan(from: window.size, to: size, reserve: options.quality.blockReserve)
        guard let rows = PNGRows(file), let pixels = try pixels(of: file, rows, plan, window, cancellation) else {
            return try VipsDecoder.png.decode(
                file.pixelsAlone(cancellation), header: header, box: box, options: options, cancellation: cancellation
            ).converted(from: file.profile ?? [], header, cancellation: cancellation)
        }
        // The tones of deep samples were mapped row by row.
        if rows.mapsTones { header.convertedColors = nil }
        return try header.image(pixels, size: size, layout: rows.layout, profile: file.profile, cancellation)
    }

    func metadata(of bytes: [UInt8], cancellation: WorkCancellation) throws -> EmbeddedMetadata {
        try PNGMetadata.read(bytes, cancellation)
    }

    /// Returns the picture with 16 bits a channel; `nil` if the file is damaged.
    private func deep(
        _ file: PNGFile, _ header: ImageHeader, _ size: PixelSize, _ cancellation: WorkCancellation
    ) throws -> DecodedImage? {
        guard !file.isDamaged, let rows = PNGDeepRows(file) else { return nil }
        let window = header.storedRegion
        guard let samples = try rows.samples(of: window, cancellation) else { return nil }
        return try header.deepImage(samples, of: window.size, layout: rows.layout, scaledTo: size, cancellation)
    }

    private func animation(
        _ file: PNGFile, _ header: ImageHeader, _ size: PixelSize, _ count: Int, _ options: DecodeOptions,
        _ cancellation: WorkCancellation
    ) throws -> DecodedImage {
        guard options.allowTruncated || !file.isDamaged else { throw PNGFile.damaged("a checksum is wrong") }
        let scaling = CanvasScaling(
            header: header, size: size, layout: file.canvasLayout, quality: options.quality, profile: file.profile)
        return try scaling.image(
            try PNGFrames(file: file, scaling: scaling, allowTruncated: options.allowTruncated)
                .frames(count: count, cancellation: cancellation))
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
