#if WebP
import CWebP
import Pipeline

/// Decodes WebP with libwebp, which scales as it decodes.
struct WebPDecoder: ImageDecoding {
    /// libwebp starts a lossless file only once it has an eighth of it, and decodes that eighth in one go: 100 ms for
    /// 50 megapixels.
    let canBeStopped = false
    /// Shows the rows that have arrived.
    let showsBeginnings = true

    /// Reads the file's chunks.
    func header(of bytes: [UInt8], cancellation: WorkCancellation) throws -> ImageHeader {
        try bytes.withUnsafeBufferPointer { try WebPFile($0).header }
    }

    /// Decodes the first frames, in slices.
    func decode(
        _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions, cancellation: WorkCancellation
    ) throws -> DecodedImage {
        try bytes.withUnsafeBufferPointer { buffer in
            let file = try WebPFile(buffer)
            // libwebp doesn't count missing frames.
            if options.frames > 1, file.isAnimated, !file.isWhole, !options.allowTruncated {
                throw WebPFile.damaged("it ends too soon")
            }
            let window = Self.window(header)
            // libwebp averages plainly, so the Lanczos kernel needs more pixels than the final size has.
            let scale = header.excess(over: box) / options.quality.webpReserve
            let size =
                scale <= 1
                ? window.size
                : PixelSize(
                    width: Int((Double(window.size.width) / scale).rounded(.up)),
                    height: Int((Double(window.size.height) / scale).rounded(.up)))
            let count = min(header.frames, options.frames)
            if count > 1 { return try animation(file, header, size, count, options, cancellation) }
            let isWhole = options.quality == .quality && window.size.bytes(1) <= Self.largestWhole
            return try still(
                file, header, window, isWhole ? window.size : size, header.storedSize(for: box), options, cancellation)
        }
    }

    func metadata(of bytes: [UInt8], cancellation: WorkCancellation) throws -> EmbeddedMetadata {
        try bytes.withUnsafeBufferPointer { buffer in
            let file = try WebPFile(buffer)
            return EmbeddedMetadata(
                exif: EmbeddedMetadata.exif(file.chunk("EXIF")), xmp: file.chunk("XMP ") ?? [],
                profile: file.chunk("ICCP") ?? [])
        }
    }

    /// The largest picture, in pixels, that is decoded whole where quality counts. libwebp's scaling blurs the colours,
    /// which costs 3 dB at any reserve. It saves memory but hardly any time.
    static let largestWhole = 16_000_000

    /// The window that libwebp decodes: the region and the pixels around it whose colours affect it. It starts at even
    /// coordinates.
    private static func window(_ header: ImageHeader) -> PixelRegion {
        let (region, picture) = (header.storedRegion, header.storedSize)
        let (left, top) = (max(0, region.x - 2) & ~1, max(0, region.y - 2) & ~1)
        let (right, bottom) = (min(picture.width, region.right + 2), min(picture.height, region.bottom + 2))
        return PixelRegion(x: left, y: top, size: PixelSize(width: right - left, height: bottom - top))
    }

    private func animation(
        _ file: WebPFile, _ header: ImageHeader, _ size: PixelSize, _ count: Int, _ options: DecodeOptions,
        _ cancellation: WorkCancellation
    ) throws -> DecodedImage {
        let scaling = CanvasScaling(
            header: header, size: size, layout: .rgba, quality: options.quality, profile: file.chunk("ICCP"))
        return try scaling.image(
            try WebPAnimation(scaling: scaling, allowTruncated: options.allowTruncated).frames(
                of: file, count: count, cancellation: cancellation))
    }

    private func still(
        _ file: WebPFile, _ header: ImageHeader, _ window: PixelRegion, _ size: PixelSize, _ target: PixelSize,
        _ options: DecodeOptions, _ cancellation: WorkCancellation
    ) throws -> DecodedImage {
        try file.withFirstFrame { frame in
            let frameSize = PixelSize(width: Int(frame.width), height: Int(frame.height))
            let covers = frameSize == header.storedSize
            let layout: PixelLayout = frame.has_alpha != 0 || !covers ? .rgba : .rgb
            let decoder =
                covers
                ? WebPStill(window: window, size: size, layout: layout)
                : WebPStill(window: PixelRegion(x: 0, y: 0, size: frameSize), size: frameSize, layout: layout)
            var pixels = try decoder.decode(
                frame.fragment, allowTruncated: options.allowTruncated, cancellation: cancellation)
            var stored = decoder.size
            if !covers {
                let corner = PixelSize(width: Int(frame.x_offset), height: Int(frame.y_offset))
                pixels = placed(pixels, size: frameSize, at: corner, on: header.storedSize)
                stored = header.storedSize
            }
            if stored != target {
                pixels = try fitted(
                    pixels, stored, window, header.storedRegion, to: target, options, layout, cancellation)
            }
            return try header.image(
                pixels, size: target, layout: layout, profile: file.chunk("ICCP"), cancellation)
        }
    }

    /// Scales the region to the target. `pixels` show the window around the region.
    private func fitted(
        _ pixels: [UInt8], _ size: PixelSize, _ window: PixelRegion, _ region: PixelRegion, to target: PixelSize,
        _ options: DecodeOptions, _ layout: PixelLayout, _ cancellation: WorkCancellation
    ) throws -> [UInt8] {
        let isWhole = size == window.size
        var inner = PixelRegion(x: region.x - window.x, y: region.y - window.y, size: region.size)
        let (across, down) = (
            Double(size.width) / Double(window.size.width), Double(size.height) / Double(window.size.height)
        )
        var plan = ResamplePlan(
            from: isWhole ? region.size : size, to: target, reserve: options.quality.blockReserve)
        if !isWhole {
            plan.origin = (Double(inner.x) * across, Double(inner.y) * down)
            plan.extent = (Double(region.size.width) * across, Double(region.size.height) * down)
            inner = PixelRegion(x: 0, y: 0, size: size)
        }
        let sink = try RowSink(plan, window: inner, of: size.width, layout: layout, cancellation: cancellation)
        try pixels.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return }
            for top in stride(from: 0, to: size.height, by: 16) {
                try cancellation.check()
                sink.push(start + top * size.width * layout.channelCount, count: min(16, size.height - top))
            }
        }
        return sink.finish()
    }

    /// Puts a frame that is smaller than its canvas on a transparent one.
    private func placed(_ pixels: [UInt8], size: PixelSize, at corner: PixelSize, on canvas: PixelSize) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: canvas.width * canvas.height * 4)
        // libwebp has checked that frames lie within their canvas; nothing here relies on it.
        let width = min(size.width, canvas.width - corner.width)
        guard width > 0 else { return result }
        for row in 0..<min(size.height, canvas.height - corner.height) {
            let from = row * size.width * 4
            let to = ((corner.height + row) * canvas.width + corner.width) * 4
            result.replaceSubrange(to..<to + width * 4, with: pixels[from..<from + width * 4])
        }
        return result
    }
}
#endif
