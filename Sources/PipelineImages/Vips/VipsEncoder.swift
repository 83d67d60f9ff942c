#if AVIF
import CVips
import Pipeline

/// Encodes a still AVIF with loss and 8 bits a channel, with libvips.
struct VipsEncoder {
    let options: EncodeOptions.AVIF

    func encode(_ image: DecodedImage, quality: Int, cancellation: WorkCancellation) throws -> [UInt8] {
        var encoding = cvips_encoding()
        encoding.quality = Int32(quality)
        encoding.effort = Int32(options.effort)
        encoding.full_chroma = options.chroma.resolved(quality: quality) != .quarter
        return try VipsCall.run(cancellation) { call in
            try image.withPixels { pixels in
                guard let start = pixels.baseAddress else {
                    throw LoadError(.unencodable, subject: "", "The picture has no pixels.")
                }
                let picture = cvips_picture(
                    pixels: start, width: Int32(image.width), height: Int32(image.height),
                    channels: Int32(image.layout.channelCount))
                return try save(picture, encoding, size: image.size, &call)
            }
        }
    }

    private func save(
        _ picture: cvips_picture, _ encoding: cvips_encoding, size: PixelSize, _ call: inout VipsCall
    ) throws -> [UInt8] {
        var count = 0
        guard let bytes = cvips_save_avif(picture, encoding, call.cancellation, &count, &call.failure) else {
            throw LoadError(
                .unencodable, subject: "", "A picture of \(size) can't be written as image/avif (\(call.message)).")
        }
        defer { cvips_free(bytes) }
        return Array(UnsafeBufferPointer(start: bytes, count: count))
    }
}
#endif
