#if WebP
import CWebP
import Pipeline

/// Decodes the first frames of a WebP animation one at a time, each drawn on the previous ones.
///
/// libwebp's own animation decoder can't stop within a frame.
struct WebPAnimation {
    let scaling: CanvasScaling
    /// Whether a truncated file yields its readable part.
    let allowTruncated: Bool

    func frames(of file: WebPFile, count: Int, cancellation: WorkCancellation) throws -> [DecodedImage.Frame] {
        guard let canvas = AnimationCanvas(size: scaling.header.storedSize, channels: 4) else {
            throw WebPFile.damaged("out of memory")
        }
        var frames: [DecodedImage.Frame] = []
        var cleared: AnimationCanvas.Place?
        while frames.count < count {
            do {
                try file.withFrame(frames.count + 1) { frame in
                    if let cleared { try canvas.fill(cleared, with: [0, 0, 0, 0], cancellation) }
                    let place = try draw(frame, on: canvas, cancellation)
                    cleared = frame.dispose_method == WEBP_MUX_DISPOSE_BACKGROUND ? place : nil
                    frames.append(
                        DecodedImage.Frame(
                            pixels: try scaling.scaled(canvas.pixels, cancellation),
                            delay: .milliseconds(max(0, Int(frame.duration)))))
                }
            } catch let error as LoadError {
                guard error.code == .undecodable, allowTruncated, !frames.isEmpty else { throw error }
                break
            }
        }
        return frames
    }

    private func draw(
        _ frame: WebPIterator, on canvas: AnimationCanvas, _ cancellation: WorkCancellation
    ) throws -> AnimationCanvas.Place {
        let size = PixelSize(width: Int(frame.width), height: Int(frame.height))
        let place = AnimationCanvas.Place(
            left: Int(frame.x_offset), top: Int(frame.y_offset), width: size.width, height: size.height, in: canvas.size
        )
        let pixels = try WebPStill(window: PixelRegion(x: 0, y: 0, size: size), size: size, layout: .rgba)
            .decode(frame.fragment, allowTruncated: allowTruncated, cancellation: cancellation)
        if frame.blend_method == WEBP_MUX_BLEND && frame.has_alpha != 0 {
            try canvas.lay(pixels, width: size.width, over: place, cancellation)
        } else {
            try canvas.put(pixels, width: size.width, in: place, cancellation)
        }
        return place
    }
}
#endif
