import CVips
import Pipeline

/// Encodes with libvips: AVIF, GIF, TIFF, and PNG with a palette.
struct VipsEncoder: ImageEncoding {
    let format: ImageFormat
    /// The saver with its options; quality and metadata come with the picture.
    private let encoding: cvips_encoding
    private let chroma: EncodeOptions.Chroma

    private init(_ format: ImageFormat, _ encoding: cvips_encoding, chroma: EncodeOptions.Chroma = .automatic) {
        self.format = format
        self.encoding = encoding
        self.chroma = chroma
    }

    static func avif(_ options: EncodeOptions.AVIF) -> VipsEncoder {
        var encoding = cvips_encoding()
        encoding.saver = CVIPS_SAVE_AVIF
        encoding.effort = Int32(options.effort)
        encoding.lossless = options.lossless
        return VipsEncoder(.avif, encoding, chroma: options.lossless ? .full : options.chroma)
    }

    static func tiff(_ options: EncodeOptions.TIFF) -> VipsEncoder {
        var encoding = cvips_encoding()
        encoding.saver = CVIPS_SAVE_TIFF
        encoding.tiff =
            switch options.compression {
            case .none: CVIPS_TIFF_NONE
            case .lzw: CVIPS_TIFF_LZW
            case .deflate: CVIPS_TIFF_DEFLATE
            }
        return VipsEncoder(.tiff, encoding)
    }

    func encode(
        _ image: DecodedImage, quality: Int, metadata: EmbeddedMetadata, cancellation: WorkCancellation
    ) throws -> [UInt8] {
        try format.check(image.size)
        var encoding = encoding
        encoding.quality = Int32(quality)
        encoding.full_chroma = chroma.resolved(quality: quality) != .quarter
        return try VipsCall.run(cancellation) { call in
            try metadata.withBlocks { exif, xmp, profile in
                encoding.exif = cvips_block(bytes: exif.baseAddress, count: exif.count)
                encoding.xmp = cvips_block(bytes: xmp.baseAddress, count: xmp.count)
                encoding.profile = cvips_block(bytes: profile.baseAddress, count: profile.count)
                return try image.pixels.withUnsafeBufferPointer { pixels in
                    guard let start = pixels.baseAddress else {
                        throw LoadError(.unencodable, subject: "", "The picture has no pixels.")
                    }
                    let picture = cvips_picture(
                        pixels: start, width: Int32(image.width), height: Int32(image.height),
                        channels: Int32(image.layout.channels))
                    return try save(picture, encoding, size: image.size, &call)
                }
            }
        }
    }

    private func save(
        _ picture: cvips_picture, _ encoding: cvips_encoding, size: PixelSize, _ call: inout VipsCall
    ) throws -> [UInt8] {
        var count = 0
        guard let bytes = cvips_save(picture, encoding, call.cancellation, &count, &call.failure) else {
            throw LoadError(
                .unencodable, subject: "", "A picture of \(size) can't be written as \(format) (\(call.message)).")
        }
        defer { cvips_free(bytes) }
        return Array(UnsafeBufferPointer(start: bytes, count: count))
    }
}
