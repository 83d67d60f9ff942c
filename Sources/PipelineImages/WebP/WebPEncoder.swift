#if WebP
import CWebP
import Pipeline

/// Encodes WebP with libwebp; animations with all their frames. libwebp seldom checks whether it is cancelled, see
/// `EncodeOptions.WebP`.
struct WebPEncoder: ImageEncoding {
    let defaults = EncodeOptions.WebP()
    let longestSide = 16_383
    let holdsProfile = true
    let holdsMotion = true
    let canBeStopped = false
    var lossless: WritableKeyPath<EncodeOptions.WebP, Bool>? { \.lossless }
    var effort: (option: WritableKeyPath<EncodeOptions.WebP, Int>, range: ClosedRange<Int>)? { (\.effort, 0...6) }

    func fidelity(_ options: EncodeOptions.WebP) -> Fidelity { options.lossless ? .exact : .byQuality }

    func values(of options: EncodeOptions.WebP) -> [(name: String, value: String)] {
        [("lossless", "\(options.lossless)"), ("effort", "\(options.effort)")]
    }

    func check(_ options: EncodeOptions.WebP) throws(LoadError) {
        try EncodeOptions.check("webp.effort", options.effort, 0...6)
    }

    func encode(
        _ image: DecodedImage, quality: Int, options: EncodeOptions.WebP, metadata: EmbeddedMetadata,
        cancellation: WorkCancellation
    ) throws -> [UInt8] {
        let config = try config(options, quality: quality)
        do {
            let bytes =
                image.isAnimated
                ? try WebPAnimationEncoder(config: config).encode(image, cancellation)
                : try still(image, config, cancellation)
            return metadata.isEmpty ? bytes : try WebPMetadata.added(metadata, to: bytes)
        } catch {
            // A cancelled encoding fails with an arbitrary error of libwebp.
            try cancellation.check()
            throw error
        }
    }

    private func config(_ options: EncodeOptions.WebP, quality: Int) throws -> WebPConfig {
        var config = WebPConfig()
        guard WebPConfigPreset(&config, WEBP_PRESET_DEFAULT, Float(quality)) != 0 else {
            throw Self.refused("libwebp has an incompatible version")
        }
        if options.lossless {
            // libwebp's levels go to 9.
            guard WebPConfigLosslessPreset(&config, Int32(options.effort * 3 / 2)) != 0 else {
                throw Self.refused("libwebp refuses the effort")
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
#endif
