import Pipeline

/// What becomes of each picture of an animation as soon as it is composed: scaled, in sRGB, upright.
struct CanvasScaling {
    let header: ImageHeader
    /// The size that each frame is scaled to, in stored orientation.
    let size: PixelSize
    let layout: PixelLayout
    let quality: DecodeQuality
    /// The profile whose colours the frames have; `nil` for sRGB.
    let profile: [UInt8]?

    /// - Parameter canvas: `header.storedSize`'s pixels, row by row without padding.
    func scaled(_ canvas: UnsafePointer<UInt8>, _ cancellation: WorkCancellation) throws -> [UInt8] {
        let stored = header.storedSize
        var pixels =
            size == stored
            ? try copied(canvas, cancellation)
            : try Resampler.scaled(
                canvas, ResamplePlan(from: stored, to: size, reserve: quality.blockReserve), layout: layout,
                cancellation: cancellation)
        if let profile {
            try VipsPixels.convertToSRGB(
                &pixels, size: size, channels: layout.channels, profile: profile, cancellation: cancellation)
        }
        return try header.orientation.applied(
            to: pixels, size: size, channels: layout.channels, cancellation: cancellation)
    }

    /// Some megabytes at a time: a large picture takes long even to copy.
    private func copied(_ canvas: UnsafePointer<UInt8>, _ cancellation: WorkCancellation) throws -> [UInt8] {
        let length = size.width * size.height * layout.channels
        return try [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            while count < length {
                try cancellation.check()
                let part = min(4 << 20, length - count)
                buffer.baseAddress?.advanced(by: count).initialize(from: canvas + count, count: part)
                count += part
            }
        }
    }

    /// The animation that the frames are.
    func image(_ frames: [DecodedImage.Frame]) -> DecodedImage {
        DecodedImage(
            size: header.orientation.applied(to: size), layout: layout, frames: frames, loopCount: header.loopCount,
            nativeSize: header.size)
    }
}
