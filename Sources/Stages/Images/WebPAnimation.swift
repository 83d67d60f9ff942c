import CWebP
import Pipeline

/// Decodes the first frames of a WebP animation, each composed on what it leaves standing, one at a time.
struct WebPAnimation {
    let scaling: CanvasScaling

    func frames(of data: WebPData, count: Int, cancellation: WorkCancellation) throws -> [DecodedImage.Frame] {
        var options = WebPAnimDecoderOptions()
        var data = data
        guard WebPAnimDecoderOptionsInit(&options) != 0 else { throw WebPFile.damaged("libwebp is of another version") }
        options.color_mode = MODE_RGBA
        guard let decoder = WebPAnimDecoderNew(&data, &options) else { throw WebPFile.damaged("it ends too soon") }
        defer { WebPAnimDecoderDelete(decoder) }
        var frames: [DecodedImage.Frame] = []
        var previous: Int32 = 0
        while frames.count < count, WebPAnimDecoderHasMoreFrames(decoder) != 0 {
            try cancellation.check()
            var canvas: UnsafeMutablePointer<UInt8>?
            var end: Int32 = 0
            guard WebPAnimDecoderGetNext(decoder, &canvas, &end) != 0, let canvas else {
                throw WebPFile.damaged("frame \(frames.count + 1) makes no sense")
            }
            frames.append(
                DecodedImage.Frame(
                    pixels: try scaling.scaled(canvas, cancellation),
                    delay: .milliseconds(max(0, Int(end) - Int(previous)))))
            previous = end
        }
        guard !frames.isEmpty else { throw WebPFile.damaged("it has no frame") }
        return frames
    }
}
