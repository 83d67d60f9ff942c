#if AVIF
import Pipeline

/// Decodes a still AVIF picture with libavif. It can stop between two tiles and while it scales.
struct AVIFStill {
    let bytes: [UInt8]
    let format: ImageFormat
    let picture: HEIFPicture

    /// Returns the picture cropped and scaled to a size, in its own colours, not yet turned.
    func pixels(
        _ target: PixelSize, _ quality: DecodeQuality, _ cancellation: WorkCancellation
    ) throws -> ([UInt8], PixelLayout) {
        let planes = try planes(cancellation)
        let layout: PixelLayout = picture.alpha == nil ? .rgb : .rgba
        // libavif converts 8-bit pictures quickly and rounds as other readers do, half a decibel nearer to them. It
        // converts deeper ones slowly.
        if layout == .rgb, target != picture.geometry.size, picture.first.bits > 8,
            let pixels = try planes.scaled(picture.geometry, to: target, quality: quality, cancellation)
        {
            return (pixels, layout)
        }
        let whole = try planes.pixels(layout, isPremultiplied: picture.isPremultiplied)
        return (try cropped(whole, layout, to: target, quality, cancellation), layout)
    }

    /// Returns the picture cropped, with 16 bits a channel, in its own colours, neither scaled nor turned.
    func samples(_ cancellation: WorkCancellation) throws -> ([UInt8], PixelLayout) {
        let planes = try planes(cancellation)
        let layout = (picture.alpha == nil ? PixelLayout.rgb : .rgba).with(.uint16)
        let whole = try planes.pixels(layout, isPremultiplied: picture.isPremultiplied)
        let (geometry, step) = (picture.geometry, layout.bytesPerPixel)
        guard !geometry.isWhole(picture.color.canvas) else { return (whole, layout) }
        var part: [UInt8] = []
        part.reserveCapacity(geometry.size.bytes(step))
        for row in geometry.top..<geometry.top + geometry.size.height {
            let start = (row * picture.color.canvas.width + geometry.left) * step
            part += whole[start..<start + geometry.size.width * step]
        }
        return (part, layout)
    }

    private func planes(_ cancellation: WorkCancellation) throws -> AVIFPlanes {
        let planes = try AVIFPlanes(picture.color.canvas, format: format)
        try add(picture.color, to: planes, isAlpha: false, cancellation)
        if let alpha = picture.alpha { try add(alpha, to: planes, isAlpha: true, cancellation) }
        try cancellation.check()
        return planes
    }

    private func add(
        _ tiles: HEIFPicture.Tiles, to planes: AVIFPlanes, isAlpha: Bool, _ cancellation: WorkCancellation
    ) throws {
        for (index, item) in tiles.items.enumerated() {
            try cancellation.check()
            let (row, column) = index.quotientAndRemainder(dividingBy: tiles.columns)
            try planes.add(
                item, in: bytes, colors: picture.colors, left: column * item.size.width, top: row * item.size.height,
                isAlpha: isAlpha)
        }
    }

    private func cropped(
        _ whole: [UInt8], _ layout: PixelLayout, to target: PixelSize, _ quality: DecodeQuality,
        _ cancellation: WorkCancellation
    ) throws -> [UInt8] {
        let (geometry, width) = (picture.geometry, picture.color.canvas.width)
        if target == geometry.size, geometry.isWhole(picture.color.canvas) { return whole }
        let sink = try RowSink(
            ResamplePlan(from: geometry.size, to: target, reserve: quality.blockReserve), layout: layout,
            cancellation: cancellation)
        try whole.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return }
            for row in geometry.top..<geometry.top + geometry.size.height {
                if row % 32 == 0 { try cancellation.check() }
                sink.push(start + (row * width + geometry.left) * layout.channelCount)
            }
        }
        return sink.finish()
    }
}
#endif
