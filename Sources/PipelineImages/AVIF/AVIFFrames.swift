#if AVIF
import CAVIF
import Pipeline

/// Decodes the first frames of an AVIF sequence with libavif, one at a time.
struct AVIFFrames {
    let scaling: CanvasScaling

    /// Decodes frames. If the file is truncated or a frame is damaged, it returns the frames before, if that is
    /// allowed.
    func frames(
        of bytes: [UInt8], count: Int, allowTruncated: Bool, cancellation: WorkCancellation
    ) throws -> [DecodedImage.Frame] {
        try cancellation.check()
        let size = scaling.header.storedSize
        // libavif checks for cancellation only during these calls, and the object outlives them.
        let watch = cavif_cancellation(
            is_cancelled: { Unmanaged<WorkCancellation>.fromOpaque($0).takeUnretainedValue().isCancelled },
            context: Unmanaged.passUnretained(cancellation).toOpaque())
        let canvas = UnsafeMutablePointer<UInt8>.allocate(capacity: size.bytes(scaling.layout.channelCount))
        defer { canvas.deallocate() }
        return try withExtendedLifetime(cancellation) {
            try bytes.withUnsafeBufferPointer { buffer in
                var failure = cavif_failure()
                guard let start = buffer.baseAddress,
                    let sequence = cavif_open(
                        start, buffer.count, size.bytes(1), scaling.header.frames, watch, &failure)
                else {
                    try cancellation.check()
                    throw AVIFSequence.damaged(failure.words)
                }
                defer { cavif_close(sequence) }
                var frames: [DecodedImage.Frame] = []
                var shown = 0.0
                while frames.count < count {
                    try cancellation.check()
                    var end = 0.0
                    guard
                        cavif_next(
                            sequence, Int32(size.width), Int32(size.height), Int32(scaling.layout.channelCount), canvas,
                            &end, &failure)
                    else {
                        try cancellation.check()
                        if allowTruncated, !frames.isEmpty { break }
                        throw AVIFSequence.damaged("frame \(frames.count + 1): \(failure.words)")
                    }
                    // Delays are differences of rounded times, so that rounding errors don't add up.
                    let delay = min(1e12, max(0, end.rounded() - shown))
                    shown += delay
                    frames.append(
                        DecodedImage.Frame(
                            pixels: try scaling.scaled(canvas, cancellation),
                            delay: .milliseconds(count > 1 ? Int(delay) : 0)))
                }
                return frames
            }
        }
    }
}

extension cavif_failure {
    /// The error message.
    var words: String {
        withUnsafeBytes(of: message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
#endif
