import CVips
import Pipeline

/// Encodes with libvips: AVIF, GIF, and PNG with a palette.
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

    static func png(_ options: EncodeOptions.PNG) -> VipsEncoder {
        var encoding = cvips_encoding()
        encoding.saver = CVIPS_SAVE_PNG
        encoding.compression = Int32(options.compression)
        // libpng's own rule leaves pictures with a palette as they are; so does this.
        encoding.filter = options.colours == nil ? Int32(options.filter.rawValue) : 0
        encoding.bits = options.colours.map { colours in [8, 4, 2, 1].first { 1 << $0 <= colours } ?? 1 } ?? 0
        encoding.dither = options.dither
        return VipsEncoder(.png, encoding)
    }

    static func avif(_ options: EncodeOptions.AVIF) -> VipsEncoder {
        var encoding = cvips_encoding()
        encoding.saver = CVIPS_SAVE_AVIF
        encoding.effort = Int32(options.effort)
        encoding.lossless = options.lossless
        return VipsEncoder(.avif, encoding, chroma: options.lossless ? .full : options.chroma)
    }

    static func gif(_ options: EncodeOptions.GIF) -> VipsEncoder {
        var encoding = cvips_encoding()
        encoding.saver = CVIPS_SAVE_GIF
        encoding.effort = Int32(options.effort)
        encoding.bits = (1...8).reversed().first { 1 << $0 <= options.colours } ?? 1
        encoding.dither = options.dither
        return VipsEncoder(.gif, encoding)
    }

    func encode(
        _ image: DecodedImage, quality: Int, metadata: EmbeddedMetadata, cancellation: WorkCancellation
    ) throws -> [UInt8] {
        try format.check(image.size)
        // GIF alone holds frames here; of an animation the others get the first. The frames stand one below the other.
        let frames = format == .gif ? image.frames : [image.frames[0]]
        try ImageFormat.png.check(PixelSize(width: image.width, height: image.height * frames.count))
        let pixels = frames.count == 1 ? frames[0].pixels : Array(frames.map(\.pixels).joined())
        let delays = frames.map { Int32(clamping: $0.delay.milliseconds) }
        var encoding = encoding
        encoding.quality = Int32(quality)
        encoding.full_chroma = chroma.resolved(quality: quality) != .quarter
        return try VipsCall.run(cancellation) { call in
            try metadata.withBlocks { exif, xmp, profile in
                encoding.exif = cvips_block(bytes: exif.baseAddress, count: exif.count)
                encoding.xmp = cvips_block(bytes: xmp.baseAddress, count: xmp.count)
                encoding.profile = cvips_block(bytes: profile.baseAddress, count: profile.count)
                return try pixels.withUnsafeBufferPointer { pixels in
                    try delays.withUnsafeBufferPointer { delays in
                        guard let start = pixels.baseAddress else {
                            throw LoadError(.unencodable, subject: "", "The picture has no pixels.")
                        }
                        let picture = cvips_picture(
                            pixels: start, width: Int32(image.width), height: Int32(image.height),
                            channels: Int32(image.layout.channels), frames: Int32(frames.count),
                            delays: delays.baseAddress, loops: Int32(clamping: image.loopCount))
                        return try save(picture, encoding, size: image.size, &call)
                    }
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
