import Pipeline

/// Scales each composed frame of an animation, converts it to sRGB and turns it upright.
struct CanvasScaling {
    let header: ImageHeader
    /// The size that each frame is scaled to, in stored orientation.
    let size: PixelSize
    let layout: PixelLayout
    let quality: DecodeQuality
    /// The colour profile of the frames; `nil` for sRGB.
    let profile: [UInt8]?

    /// - Parameter canvas: Pixels of size `header.storedSize`, without padding between rows.
    func scaled(_ canvas: UnsafePointer<UInt8>, _ cancellation: WorkCancellation) throws -> [UInt8] {
        let stored = header.storedSize
        let pixels =
            size == stored
            ? try UnsafeBufferPointer(start: canvas, count: stored.bytes(layout.channelCount)).copied(cancellation)
            : try Resampler.scaled(
                canvas, ResamplePlan(from: stored, to: size, reserve: quality.blockReserve), layout: layout,
                cancellation: cancellation)
        return try header.finished(pixels, size: size, layout: layout, profile: profile, cancellation)
    }

    /// Returns an animation of the frames.
    func image(_ frames: [DecodedImage.Frame]) throws(LoadError) -> DecodedImage {
        try DecodedImage(
            validating: frames, size: header.orientation.applied(to: size), layout: layout, loopCount: header.loopCount,
            nativeSize: header.size)
    }
}
