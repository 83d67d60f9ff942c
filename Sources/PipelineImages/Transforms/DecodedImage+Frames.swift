package import Pipeline

extension DecodedImage {
    /// The most pixels, in all frames, of a picture that a transform makes.
    private static let mostPixels = 200_000_000

    /// Returns the animation with new pixels in each frame.
    /// - Parameter isOfAnyDepth: Whether `body` takes and makes the bytes of 16 bits a channel too.
    /// - Throws: ``Pipeline/LoadError/Code/untransformable`` if the size is empty or too large; what `body` throws.
    func mapFrames(
        size newSize: PixelSize? = nil, layout newLayout: PixelLayout? = nil, isOfAnyDepth: Bool = false,
        _ cancellation: WorkCancellation,
        _ body: (UnsafeBufferPointer<UInt8>) throws -> [UInt8]
    ) throws -> DecodedImage {
        let size = newSize ?? size
        let (area, overflows) = size.width.multipliedReportingOverflow(by: size.height)
        guard size.width > 0, size.height > 0, !overflows, area <= Self.mostPixels / frames.count else {
            throw LoadError(
                .untransformable, subject: "", "A picture of \(size) pixels can't be made; ask for another size.")
        }
        var result = DecodedImage(
            size: size, layout: newLayout ?? layout, frames: try newFrames(isOfAnyDepth, cancellation, body),
            loopCount: loopCount,
            nativeSize: nativeSize)
        if newSize == nil { result.croppedSize = croppedSize }
        return result
    }

    /// Reads a frame's bytes, of 8 or 16 bits a channel.
    /// - Throws: `unsupportedLayout` for any other layout; any error of `body`.
    func withBytes<Result>(
        ofFrame index: Int = 0, _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
    ) throws -> Result {
        layout.isDeep ? try frames[index].bytes.withUnsafeBufferPointer(body) : try withPixels(ofFrame: index, body)
    }

    /// Returns frames with new pixels and the same delays.
    func newFrames(
        _ isOfAnyDepth: Bool = false, _ cancellation: WorkCancellation,
        _ body: (UnsafeBufferPointer<UInt8>) throws -> [UInt8]
    ) throws -> [Frame] {
        try frames.indices.map { index in
            try cancellation.check()
            let pixels =
                isOfAnyDepth ? try withBytes(ofFrame: index, body) : try withPixels(ofFrame: index, body)
            return Frame(pixels: pixels, delay: frames[index].delay)
        }
    }

    /// Returns the animation with new pixels in each frame. It can stop every 65,536 pixels.
    /// - Parameter body: Fills a range of pixels. It gets all old and all new pixels.
    func mapPixels(
        layout newLayout: PixelLayout? = nil, _ cancellation: WorkCancellation,
        _ body: (
            _ old: UnsafeBufferPointer<UInt8>, _ new: UnsafeMutableBufferPointer<UInt8>, _ pixels: Range<Int>
        ) throws -> Void
    ) throws -> DecodedImage {
        try mapSamples(UInt8.self, layout: newLayout, cancellation, body)
    }

    /// Returns the picture with new samples of 8 or 16 bits in each frame. It can stop every 65,536 pixels.
    /// - Parameters:
    ///   - type: The type of the picture's samples.
    ///   - body: Fills a range of pixels. It gets all old and all new samples.
    func mapSamples<Sample: FixedWidthInteger>(
        _ type: Sample.Type, layout newLayout: PixelLayout? = nil, _ cancellation: WorkCancellation,
        _ body: (
            _ old: UnsafeBufferPointer<Sample>, _ new: UnsafeMutableBufferPointer<Sample>, _ pixels: Range<Int>
        ) throws -> Void
    ) throws -> DecodedImage {
        let (area, size) = (width * height, size.bytes((newLayout ?? layout).bytesPerPixel))
        return try mapFrames(layout: newLayout, isOfAnyDepth: Sample.bitWidth == 16, cancellation) { old in
            let old = UnsafeRawBufferPointer(old).bindMemory(to: Sample.self)
            return try [UInt8](unsafeUninitializedCapacity: size) { bytes, count in
                let new = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(bytes)[..<size])
                    .bindMemory(to: Sample.self)
                for start in stride(from: 0, to: area, by: 1 << 16) {
                    try cancellation.check()
                    try body(old, new, start..<min(area, start + 1 << 16))
                }
                count = size
            }
        }
    }

    /// Returns the picture with an alpha channel, opaque if it had none.
    package func withAlpha(_ cancellation: WorkCancellation) throws -> DecodedImage { try with(.rgba, cancellation) }

    /// Returns the picture with at least three channels.
    func withColor(_ cancellation: WorkCancellation) throws -> DecodedImage {
        layout.channelCount == 1 ? try with(.rgb, cancellation) : self
    }

    /// Returns a frame as a still picture with at least three channels.
    func colors(of frame: Frame, _ cancellation: WorkCancellation) throws -> DecodedImage {
        try DecodedImage(size: size, layout: layout, frames: [frame]).withColor(cancellation)
    }

    private func with(_ target: PixelLayout, _ cancellation: WorkCancellation) throws -> DecodedImage {
        let target = target.with(layout.sampleType)
        guard layout != target else { return self }
        return layout.isDeep
            ? try widened(UInt16.self, target, cancellation) : try widened(UInt8.self, target, cancellation)
    }

    private func widened<Sample: FixedWidthInteger>(
        _ type: Sample.Type, _ target: PixelLayout, _ cancellation: WorkCancellation
    ) throws -> DecodedImage {
        let (from, to) = (layout.channelCount, target.channelCount)
        return try mapSamples(type, layout: target, cancellation) { old, new, pixels in
            for index in pixels {
                for channel in 0..<3 { new[index * to + channel] = old[index * from + min(channel, from - 1)] }
                if to == 4 { new[index * to + 3] = .max }
            }
        }
    }
}
