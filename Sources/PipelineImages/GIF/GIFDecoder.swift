#if GIF
import Pipeline

/// Decodes GIF. Each frame is drawn on the previous ones, a few rows at a time, and scaled once it is complete.
struct GIFDecoder: ImageDecoding {
    /// Reads the file's blocks; nothing is decompressed.
    func header(of bytes: [UInt8], cancellation: WorkCancellation) throws -> ImageHeader {
        let file = try bytes.withUnsafeBufferPointer { try GIFFile($0, limit: 0, cancellation: cancellation) }
        var header = ImageHeader(
            format: .gif, storedSize: file.size, frames: file.frameCount, loopCount: file.loops,
            hasAlpha: file.hasAlpha || file.clears)
        header.codedSize = .larger(file.largestFrame, file.size) ?? file.size
        // The canvas, and a copy of what a frame covers.
        header.memory = file.size.bytes(8)
        return header
    }

    /// Decodes the first frames. A truncated frame, if allowed, leaves the rest of the canvas as it was.
    func decode(
        _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions, cancellation: WorkCancellation
    ) throws -> DecodedImage {
        let count = max(1, min(header.frames, options.frames))
        return try bytes.withUnsafeBufferPointer { buffer in
            let file = try GIFFile(buffer, limit: count, cancellation: cancellation)
            // A cleared place only shows under the next frame, so a single frame stays opaque.
            let layout: PixelLayout = file.hasAlpha || count > 1 && file.clears ? .rgba : .rgb
            let scaling = CanvasScaling(
                header: header, size: header.storedSize(for: box), layout: layout, quality: options.quality,
                profile: nil)
            guard let canvas = AnimationCanvas(size: header.storedSize, channels: layout.channelCount) else {
                throw GIFFile.damaged("out of memory")
            }
            // The pixels that the last frame covers, if they have to be restored.
            var covered: [UInt8] = []
            var frames: [DecodedImage.Frame] = []
            for (index, frame) in file.frames.enumerated() {
                if index > 0 { try dispose(of: file.frames[index - 1], canvas, covered, cancellation) }
                if frame.disposal == .isTakenBack, index + 1 < count {
                    covered = try canvas.bytes(of: canvas.place(of: frame), cancellation)
                }
                try GIFPixels(
                    frame: frame, palette: file.colors(of: frame, buffer), allowTruncated: options.allowTruncated
                ).draw(buffer, on: canvas, cancellation)
                frames.append(
                    DecodedImage.Frame(
                        pixels: try scaling.scaled(canvas.pixels, cancellation),
                        delay: .milliseconds(count > 1 ? 10 * frame.delay : 0)))
            }
            return try scaling.image(frames)
        }
    }

    /// Prepares the canvas for the next frame.
    private func dispose(
        of frame: GIFFrame, _ canvas: AnimationCanvas, _ covered: [UInt8], _ cancellation: WorkCancellation
    ) throws {
        let place = canvas.place(of: frame)
        switch frame.disposal {
        case .stays: return
        // As browsers do, which ignore the standard's background colour.
        case .isCleared: try canvas.fill(place, with: [0, 0, 0, 0], cancellation)
        case .isTakenBack: try canvas.put(covered, width: place.width, in: place, cancellation)
        }
    }
}
#endif
