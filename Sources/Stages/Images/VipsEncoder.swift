import CVips
import Pipeline

/// Encodes with libvips: JPEG, PNG, GIF, TIFF, AVIF.
struct VipsEncoder {
    let format: ImageFormat
    /// 1 to 100; lossless formats have no use for it.
    let quality: Int

    /// AVIF's effort: at 2 a thumbnail of 300 pixels takes about 20 ms, at libvips' own 4 five times that.
    private static let avifEffort: Int32 = 2

    /// libvips' longest side; the frames of an animation stand one below the other.
    private static let longestSide = 10_000_000

    func encode(_ image: DecodedImage, cancellation: WorkCancellation) throws -> [UInt8] {
        guard let saver else { throw LoadError(.unencodable, subject: "", "There is no encoder for \(format).") }
        // GIF alone holds frames here; of an animation the others get the first.
        let frames = format == .gif ? image.frames : [image.frames[0]]
        guard image.width <= Self.longestSide, image.height <= Self.longestSide / frames.count else {
            throw LoadError(
                .unencodable, subject: "", "\(frames.count) frames of \(image.size) are too large for \(format).")
        }
        let pixels = frames.count == 1 ? frames[0].pixels : Array(frames.map(\.pixels).joined())
        let delays = frames.map { Int32(clamping: $0.delay.milliseconds) }
        return try VipsCall.run(cancellation) { call in
            try pixels.withUnsafeBufferPointer { pixels in
                try delays.withUnsafeBufferPointer { delays in
                    guard let start = pixels.baseAddress else {
                        throw LoadError(.unencodable, subject: "", "The picture has no pixels.")
                    }
                    let picture = cvips_picture(
                        pixels: start, width: Int32(image.width), height: Int32(image.height),
                        channels: Int32(image.layout.channels), frames: Int32(frames.count),
                        delays: delays.baseAddress, loops: Int32(clamping: image.loopCount))
                    return try save(picture, saver, size: image.size, &call)
                }
            }
        }
    }

    private func save(
        _ picture: cvips_picture, _ saver: cvips_saver, size: PixelSize, _ call: inout VipsCall
    ) throws -> [UInt8] {
        var count = 0
        guard
            let bytes = cvips_save(
                picture, saver, Int32(quality), Self.avifEffort, call.cancellation, &count, &call.failure)
        else {
            throw LoadError(
                .unencodable, subject: "", "A picture of \(size) can't be written as \(format) (\(call.message)).")
        }
        defer { cvips_free(bytes) }
        return Array(UnsafeBufferPointer(start: bytes, count: count))
    }

    private var saver: cvips_saver? {
        switch format {
        case .jpeg: CVIPS_SAVE_JPEG
        case .png: CVIPS_SAVE_PNG
        case .gif: CVIPS_SAVE_GIF
        case .tiff: CVIPS_SAVE_TIFF
        case .avif: CVIPS_SAVE_AVIF
        default: nil
        }
    }
}
