import CWebP
import Pipeline

/// Encodes WebP with libwebp, which can stop at any time; animations with all their frames.
struct WebPEncoder: ImageEncoding {
    let options: EncodeOptions.WebP

    func encode(
        _ image: DecodedImage, quality: Int, metadata: EmbeddedMetadata, cancellation: WorkCancellation
    ) throws -> [UInt8] {
        try ImageFormat.webp.check(image.size)
        let config = try config(quality: quality)
        do {
            let bytes =
                image.isAnimated
                ? try WebPAnimationEncoder(config: config).encode(image, cancellation)
                : try still(image, config, cancellation)
            return metadata.isEmpty ? bytes : try WebPMetadata.added(metadata, to: bytes)
        } catch {
            // A cancelled encoding fails with whatever libwebp made of it.
            try cancellation.check()
            throw error
        }
    }

    private func config(quality: Int) throws -> WebPConfig {
        var config = WebPConfig()
        guard WebPConfigPreset(&config, WEBP_PRESET_DEFAULT, Float(quality)) != 0 else {
            throw Self.refused("libwebp is of another version")
        }
        if options.lossless {
            // libwebp's levels go to 9.
            guard WebPConfigLosslessPreset(&config, Int32(options.effort * 3 / 2)) != 0 else {
                throw Self.refused("libwebp has no such effort")
            }
        } else {
            config.method = Int32(options.effort)
        }
        return config
    }

    private func still(
        _ image: DecodedImage, _ config: WebPConfig, _ cancellation: WorkCancellation
    ) throws -> [UInt8] {
        var config = config
        var writer = WebPMemoryWriter()
        WebPMemoryWriterInit(&writer)
        defer { WebPMemoryWriterClear(&writer) }
        let asARGB = config.lossless != 0
        try WebPPixels.withPicture(of: image.frames[0], in: image, asARGB: asARGB, cancellation) { picture in
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
