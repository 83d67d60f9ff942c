import Pipeline

/// Decodes GIF: each frame is drawn on what the ones before it leave, a few rows at a time, and scaled as soon as it is
/// whole.
struct GIFDecoder: ImageDecoding {
    /// Reads the file's blocks; nothing is decompressed.
    func header(of bytes: [UInt8], cancellation: WorkCancellation) throws -> ImageHeader {
        let file = try bytes.withUnsafeBufferPointer { try GIFFile($0, limit: 0, cancellation: cancellation) }
        var header = ImageHeader(
            format: .gif, storedSize: file.size, frames: file.frameCount, loopCount: file.loops,
            hasAlpha: file.hasAlpha || file.clears)
        header.codedSize = .larger(file.largestFrame, file.size) ?? file.size
        // The canvas, and what is to be taken back on it.
        header.memory = file.size.bytes(8)
        return header
    }

    /// Decodes the first frames. What a frame that is cut off doesn't reach is as the frames before left it, if that is
    /// allowed.
    func decode(
        _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions, cancellation: WorkCancellation
    ) throws -> DecodedImage {
        let count = max(1, min(header.frames, options.frames))
        return try bytes.withUnsafeBufferPointer { buffer in
            let file = try GIFFile(buffer, limit: count, cancellation: cancellation)
            // What is cleared shows behind the next frame, which nobody sees of the first alone.
            let layout: PixelLayout = file.hasAlpha || count > 1 && file.clears ? .rgba : .rgb
            let scaling = CanvasScaling(
                header: header, size: header.storedSize(for: box), layout: layout, quality: options.quality,
                profile: nil)
            guard let canvas = AnimationCanvas(size: header.storedSize, channels: layout.channelCount) else {
                throw GIFFile.damaged("out of memory")
            }
            // What the last frame covers, where that is to be taken back.
            var covered: [UInt8] = []
            var frames: [DecodedImage.Frame] = []
            for (index, frame) in file.frames.enumerated() {
                if index > 0 { try dispose(of: file.frames[index - 1], canvas, covered, cancellation) }
                if frame.disposal == .isTakenBack, index + 1 < count {
                    covered = try canvas.bytes(of: canvas.place(of: frame), cancellation)
                }
                try GIFPixels(
                    frame: frame, palette: file.colours(of: frame, buffer), allowTruncated: options.allowTruncated
                ).draw(buffer, on: canvas, cancellation)
                frames.append(
                    DecodedImage.Frame(
                        pixels: try scaling.scaled(canvas.pixels, cancellation),
                        delay: .milliseconds(count > 1 ? 10 * frame.delay : 0)))
            }
            return scaling.image(frames)
        }
    }

    /// Makes the canvas what the next frame is drawn on.
    private func dispose(
        of frame: GIFFrame, _ canvas: AnimationCanvas, _ covered: [UInt8], _ cancellation: WorkCancellation
    ) throws {
        let place = canvas.place(of: frame)
        switch frame.disposal {
        case .stays: return
        // As browsers do: the standard's background colour shows nowhere.
        case .isCleared: try canvas.fill(place, with: [0, 0, 0, 0], cancellation)
        case .isTakenBack: try canvas.put(covered, width: place.width, in: place, cancellation)
        }
    }
}
