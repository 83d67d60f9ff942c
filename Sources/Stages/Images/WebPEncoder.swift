import CWebP
import Pipeline

/// Encodes lossy WebP with libwebp, which can stop at any time; animations with all their frames.
struct WebPEncoder {
    /// 1 to 100.
    let quality: Int

    func encode(_ image: DecodedImage, cancellation: WorkCancellation) throws -> [UInt8] {
        guard image.width <= WEBP_MAX_DIMENSION, image.height <= WEBP_MAX_DIMENSION else {
            throw Self.refused("\(image.size) is larger than the \(WEBP_MAX_DIMENSION) pixels a side that WebP has")
        }
        var config = WebPConfig()
        guard WebPConfigPreset(&config, WEBP_PRESET_DEFAULT, Float(quality)) != 0 else {
            throw Self.refused("libwebp is of another version")
        }
        do {
            return image.isAnimated
                ? try WebPAnimationEncoder(config: config).encode(image, cancellation)
                : try still(image, config, cancellation)
        } catch {
            // A cancelled encoding fails with whatever libwebp made of it.
            try cancellation.check()
            throw error
        }
    }

    private func still(
        _ image: DecodedImage, _ config: WebPConfig, _ cancellation: WorkCancellation
    ) throws -> [UInt8] {
        var config = config
        var writer = WebPMemoryWriter()
        WebPMemoryWriterInit(&writer)
        defer { WebPMemoryWriterClear(&writer) }
        try WebPPixels.withPicture(of: image.frames[0], in: image, cancellation) { picture in
            try withUnsafeMutablePointer(to: &writer) { writer in
                picture.writer = { WebPMemoryWrite($0, $1, $2) }
                picture.custom_ptr = UnsafeMutableRawPointer(writer)
                guard WebPEncode(&config, &picture) != 0 else {
                    throw Self.refused("libwebp's error \(picture.error_code.rawValue)")
                }
            }
        }
        return Array(UnsafeBufferPointer(start: writer.mem, count: writer.size))
    }

    static func refused(_ reason: String) -> LoadError {
        LoadError(.unencodable, subject: "", "The picture can't be written as image/webp: \(reason).")
    }
}
