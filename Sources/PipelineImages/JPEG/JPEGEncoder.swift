import CImages
import LibC
import Pipeline

/// Encodes JPEG with libjpeg-turbo, in a quarter of the time that libvips takes.
struct JPEGEncoder: ImageEncoding {
    let defaults = EncodeOptions.JPEG()
    let longestSide = 65_500
    let holdsProfile = true
    let holdsAlpha = false
    let holdsGainMap = true
    var progressive: WritableKeyPath<EncodeOptions.JPEG, Bool>? { \.progressive }

    func fidelity(_ options: EncodeOptions.JPEG) -> Fidelity { .byQuality }

    func values(of options: EncodeOptions.JPEG) -> [(name: String, value: String)] {
        [
            ("progressive", "\(options.progressive)"), ("chroma", options.chroma.rawValue),
            ("optimizesCodes", "\(options.optimizesCodes)"),
        ]
    }

    /// A segment tells its number and that of all segments in a byte each (ICC.1:2010 annex B.4).
    private static let mostProfileBytes = 255 * 65_519

    func encode(
        _ image: DecodedImage, quality: Int, options: EncodeOptions.JPEG, metadata: EmbeddedMetadata,
        cancellation: WorkCancellation
    ) throws -> [UInt8] {
        guard let map = image.gainMap else {
            return try picture(image, quality, options, metadata, cancellation)
        }
        let file = try JPEGGainMapFile(map, metadata) { try picture($0, quality, options, $1, cancellation) }
        return file.bytes(try picture(image, quality, options, file.metadata, cancellation))
    }

    private func picture(
        _ image: DecodedImage, _ quality: Int, _ options: EncodeOptions.JPEG, _ metadata: EmbeddedMetadata,
        _ cancellation: WorkCancellation
    ) throws -> [UInt8] {
        try cancellation.check()
        guard metadata.profile.count <= Self.mostProfileBytes else {
            throw LoadError(
                .unencodable, subject: "",
                "A colour profile of \(metadata.profile.count) bytes can't be written as image/jpeg, which holds at most "
                    + "\(Self.mostProfileBytes). Leave it out.")
        }
        let chroma = options.chroma.resolved(quality: quality)
        // libjpeg calls back only during this call, which the object outlives.
        let watch = cjpeg_cancellation(
            is_cancelled: { Unmanaged<WorkCancellation>.fromOpaque($0).takeUnretainedValue().isCancelled },
            context: Unmanaged.passUnretained(cancellation).toOpaque())
        return try withExtendedLifetime(cancellation) {
            try metadata.withBlocks { exif, xmp, profile in
                let encoding = cjpeg_encoding(
                    quality: Int32(quality), progressive: options.progressive, optimized: options.optimizesCodes,
                    horizontal: chroma == .full ? 1 : 2, vertical: chroma == .quarter ? 2 : 1,
                    exif: cjpeg_block(bytes: exif.baseAddress, count: exif.count),
                    xmp: cjpeg_block(bytes: xmp.baseAddress, count: xmp.count),
                    profile: cjpeg_block(bytes: profile.baseAddress, count: profile.count))
                var (count, failure) = (0, cjpeg_failure())
                let bytes = try image.withPixels { pixels in
                    pixels.baseAddress.flatMap {
                        cjpeg_encode(
                            cjpeg_picture(
                                pixels: $0, width: Int32(image.width), height: Int32(image.height),
                                channels: Int32(image.layout.channelCount)), encoding, watch, &count, &failure)
                    }
                }
                guard let bytes else {
                    try cancellation.check()
                    let words = withUnsafeBytes(of: failure.message) {
                        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                    }
                    throw LoadError(
                        .unencodable, subject: "",
                        "A picture of \(image.size) can't be written as image/jpeg (\(words)).")
                }
                defer { free(bytes) }
                return Array(UnsafeBufferPointer(start: bytes, count: count))
            }
        }
    }
}
