import CWebP
import Pipeline

/// Decodes the first frames of a WebP animation, each composed on what it leaves standing, one at a time.
///
/// libwebp has this too, but can't stop within a frame.
struct WebPAnimation {
    let scaling: CanvasScaling
    /// Whether what there is of a file that is cut off is given.
    let allowTruncated: Bool

    func frames(of file: WebPFile, count: Int, cancellation: WorkCancellation) throws -> [DecodedImage.Frame] {
        let canvas = try WebPCanvas(size: scaling.header.storedSize)
        var frames: [DecodedImage.Frame] = []
        var cleared: WebPCanvas.Place?
        while frames.count < count {
            do {
                try file.withFrame(frames.count + 1) { frame in
                    if let cleared { try canvas.clear(cleared, cancellation) }
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
        _ frame: WebPIterator, on canvas: WebPCanvas, _ cancellation: WorkCancellation
    ) throws -> WebPCanvas.Place {
        let size = PixelSize(width: Int(frame.width), height: Int(frame.height))
        let place = WebPCanvas.Place(
            left: Int(frame.x_offset), top: Int(frame.y_offset), width: size.width, height: size.height, in: canvas.size
        )
        let pixels = try WebPStill(size: size, layout: .rgba)
            .decode(frame.fragment, allowTruncated: allowTruncated, cancellation: cancellation)
        let blends = frame.blend_method == WEBP_MUX_BLEND && frame.has_alpha != 0
        try canvas.draw(pixels, width: size.width, at: place, blends: blends, cancellation)
        return place
    }
}
