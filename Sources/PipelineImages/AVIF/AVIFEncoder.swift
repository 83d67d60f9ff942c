#if AVIF
import CAVIF
import Pipeline

/// Encodes AVIF: still pictures of 8 bits a channel with loss by libvips, all others by libavif.
///
/// Pixels of 16 bits a channel are written with 10, or with 12, the most of AV1, if the file is to be lossless.
struct AVIFEncoder: ImageEncoding {
    let defaults = EncodeOptions.AVIF()
    let longestSide = 16_384
    let holdsProfile = true
    let holdsDepth = true
    let holdsHDR = true
    let holdsMotion = true
    let holdsGainMap = true
    /// libaom encodes a picture in one call.
    let canBeStopped = false
    var lossless: WritableKeyPath<EncodeOptions.AVIF, Bool>? { \.lossless }
    var effort: (option: WritableKeyPath<EncodeOptions.AVIF, Int>, range: ClosedRange<Int>)? { (\.effort, 0...9) }

    func fidelity(_ options: EncodeOptions.AVIF) -> Fidelity { options.lossless ? .exact : .byQuality }

    func values(of options: EncodeOptions.AVIF) -> [(name: String, value: String)] {
        [
            ("lossless", "\(options.lossless)"), ("effort", "\(options.effort)"), ("chroma", options.chroma.rawValue),
        ]
    }

    func check(_ options: EncodeOptions.AVIF) throws(LoadError) {
        try EncodeOptions.check("avif.effort", options.effort, 0...9)
    }

    func encode(
        _ image: DecodedImage, quality: Int, options: EncodeOptions.AVIF, metadata: EmbeddedMetadata,
        cancellation: WorkCancellation
    ) throws -> [UInt8] {
        let map = try image.gainMap.map { map in
            // Its levels stand for gains, in whichever colours.
            var colors = EmbeddedMetadata()
            colors.colors = CodedColors(primaries: 2, transfer: 2, matrix: 2, isFullRange: true)
            return (file: try written(map.picture, quality, options, colors, cancellation), gains: map)
        }
        guard image.isAnimated || image.layout.isDeep || options.lossless else {
            let file = try VipsEncoder(options: options).encode(image, quality: quality, cancellation: cancellation)
            return try AVIFMetadata.added(metadata, map, to: file, cancellation)
        }
        let file = try written(image, quality, options, metadata, cancellation)
        // libavif describes the colours, in the bitstream and of the track too.
        var rest = EmbeddedMetadata(exif: metadata.exif, xmp: metadata.xmp)
        rest.mastering = metadata.mastering
        let whole = image.isAnimated ? AVIFLoops(image.loopCount).added(to: file) : file
        return try AVIFMetadata.added(rest, map, to: whole, cancellation)
    }

    /// Writes a file with libavif.
    private func written(
        _ image: DecodedImage, _ quality: Int, _ options: EncodeOptions.AVIF, _ metadata: EmbeddedMetadata,
        _ cancellation: WorkCancellation
    ) throws -> [UInt8] {
        try cancellation.check()
        var failure = cavif_failure()
        let profile = metadata.colors == nil ? metadata.profile : []
        let encoder = profile.withUnsafeBufferPointer { profile in
            cavif_encoder_new(
                cavif_encoding(
                    width: Int32(image.width), height: Int32(image.height),
                    channels: Int32(max(image.isAnimated ? 3 : 1, image.layout.channelCount)),
                    depth: depth(image, options, metadata), is_still: !image.isAnimated,
                    quality: Int32(isHDR(metadata) ? (quality + 100) / 2 : quality), effort: Int32(options.effort),
                    lossless: options.lossless,
                    full_chroma: options.chroma.resolved(quality: quality) != .quarter,
                    primaries: Int32(metadata.colors?.primaries ?? 1),
                    transfer: Int32(metadata.colors?.transfer ?? 13),
                    profile: profile.isEmpty ? nil : profile.baseAddress, profile_count: profile.count),
                &failure)
        }
        guard let encoder else { throw Self.refused(failure) }
        defer { cavif_encoder_free(encoder) }
        for frame in image.frames {
            try cancellation.check()
            let delay = UInt64(min(max(1, frame.delay.milliseconds), Self.longestDelay))
            let picture = image.isAnimated ? try image.colors(of: frame, cancellation) : image
            let isAdded = try picture.withBytes { pixels in
                pixels.baseAddress.map { cavif_encoder_add(encoder, $0, delay, &failure) }
            }
            guard isAdded == true else { throw Self.refused(failure) }
        }
        try cancellation.check()
        var count = 0
        guard let start = cavif_encoder_finish(encoder, &count, &failure) else { throw Self.refused(failure) }
        return Array(UnsafeBufferPointer(start: start, count: count))
    }

    private func depth(_ image: DecodedImage, _ options: EncodeOptions.AVIF, _ metadata: EmbeddedMetadata) -> Int32 {
        guard image.layout.isDeep else { return 8 }
        // Linear light has few levels for darks.
        return options.lossless || metadata.colors.map { TransferCurve($0.transfer) == .linear } == true ? 12 : 10
    }

    /// Whether levels stand for more light than in SDR. The same error is then seen more, and half of it looks alike, in a
    /// file of much the same size.
    private func isHDR(_ metadata: EmbeddedMetadata) -> Bool {
        metadata.colors.flatMap { TransferCurve($0.transfer) }?.isHighRange == true
    }

    /// The longest time of a frame in milliseconds, since its track counts in 32 bits (ISO/IEC 14496-12 section 8.6.1.2).
    private static let longestDelay = Int64(UInt32.max)

    private static func refused(_ failure: cavif_failure) -> LoadError {
        LoadError(.unencodable, subject: "", "The picture can't be written as image/avif (\(failure.words)).")
    }
}
#endif
