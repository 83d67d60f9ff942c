#if WebP
import CWebP
import Pipeline

/// Encodes an animation as WebP.
struct WebPAnimationEncoder {
    let config: WebPConfig
    /// The longest time in milliseconds that a frame can show (RFC 9649 section 2.7.1.1).
    private static let longestDelay: Int64 = (1 << 24) - 1

    func encode(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> [UInt8] {
        var options = WebPAnimEncoderOptions()
        guard WebPAnimEncoderOptionsInit(&options) != 0 else {
            throw WebPEncoder.refused("libwebp has an incompatible version")
        }
        options.anim_params.loop_count = Int32(clamping: image.loopCount)
        guard let encoder = WebPAnimEncoderNew(Int32(image.width), Int32(image.height), &options) else {
            throw WebPEncoder.refused("out of memory")
        }
        defer { WebPAnimEncoderDelete(encoder) }
        var config = config
        var time: UInt32 = 0
        for frame in image.frames {
            try cancellation.check()
            // Frames are compared as ARGB.
            try WebPPixels.withPicture(of: frame, in: image, asARGB: true, cancellation) { picture in
                guard WebPAnimEncoderAdd(encoder, &picture, Int32(bitPattern: time), &config) != 0 else {
                    throw WebPEncoder.refused(String(cString: WebPAnimEncoderGetError(encoder)))
                }
            }
            // libwebp lets times wrap around.
            time &+= UInt32(min(Self.longestDelay, max(0, frame.delay.milliseconds)))
        }
        // The end of the animation determines the last frame's delay.
        guard WebPAnimEncoderAdd(encoder, nil, Int32(bitPattern: time), nil) != 0 else {
            throw WebPEncoder.refused(String(cString: WebPAnimEncoderGetError(encoder)))
        }
        var data = WebPData()
        WebPDataInit(&data)
        defer { WebPDataClear(&data) }
        guard WebPAnimEncoderAssemble(encoder, &data) != 0 else {
            throw WebPEncoder.refused(String(cString: WebPAnimEncoderGetError(encoder)))
        }
        return Array(UnsafeBufferPointer(start: data.bytes, count: data.size))
    }
}
#endif
