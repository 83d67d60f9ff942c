#if AVIF
import CAVIF
import Pipeline

/// Decodes AVIF with libavif and dav1d, which are loaded with the first file.
///
/// A still picture is decoded tile by tile; most files have one tile. Where it is cheaper, the planes are scaled before
/// they are converted to RGB.
struct AVIFDecoder: PreparedOnDemand {
    /// libavif decodes a tile in one go, which may be the whole picture.
    let canBeStopped = false

    func prepare() {
        var failure = cavif_failure()
        _ = cavif_is_available(&failure)
    }

    /// Reads a sequence's movie, or a still picture's list of items.
    func header(of bytes: [UInt8], cancellation: WorkCancellation) throws -> ImageHeader {
        guard let sequence = try AVIFSequence(bytes) else {
            return try HEIFStill(bytes, format: .avif, cancellation: cancellation).header
        }
        var header = ImageHeader(
            format: .avif, storedSize: sequence.size, orientation: sequence.orientation, frames: sequence.frames,
            loopCount: sequence.loops, hasAlpha: sequence.hasAlpha, hasProfile: !sequence.profile.isEmpty,
            bitsPerChannel: sequence.bits)
        header.memory = Self.memory(header)
        header.take(profile: sequence.profile)
        header.hasProvenance = sequence.hasProvenance
        header.take(sequence.codedColors)
        return header
    }

    func metadata(of bytes: [UInt8], cancellation: WorkCancellation) throws -> EmbeddedMetadata {
        do {
            let still = try HEIFStill(bytes, format: .avif, cancellation: cancellation)
            return still.file.metadata(of: still.picture)
        } catch let error as LoadError {
            // A sequence need not have a still picture.
            guard let sequence = try AVIFSequence(bytes) else { throw error }
            return EmbeddedMetadata(profile: sequence.profile)
        }
    }

    /// Estimates the memory of eight reference pictures and the current one, the same for transparency, the canvas, and
    /// libavif's record of each frame.
    private static func memory(_ header: ImageHeader) -> Int {
        let planes = (header.bitsPerChannel > 8 ? 2 : 1) * (header.hasAlpha ? 36 : 27)
        return header.frames.saturatingTimes(header.hasAlpha ? 512 : 256)
            .saturatingPlus(header.storedSize.bytes(planes + 4))
    }

    /// Decodes a still picture, or the first frames, each scaled at once. It can stop between two tiles and between two
    /// frames.
    func decode(
        _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions, cancellation: WorkCancellation
    ) throws -> DecodedImage {
        var failure = cavif_failure()
        guard cavif_is_available(&failure) else {
            throw LoadError(.unsupportedType, subject: "", "The image/avif file can't be read: \(failure.words).")
        }
        guard let sequence = try AVIFSequence(bytes) else {
            return try HEIFStill(bytes, format: header.format, cancellation: cancellation)
                .decode(header, box: box, options: options, cancellation: cancellation)
        }
        let count = max(1, min(header.frames, options.frames))
        let scaling = CanvasScaling(
            header: header, size: header.storedSize(for: box), layout: header.hasAlpha ? .rgba : .rgb,
            quality: options.quality, profile: sequence.profile.isEmpty ? nil : sequence.profile)
        return try scaling.image(
            try AVIFFrames(scaling: scaling).frames(
                of: sequence.movie(in: bytes), count: count, allowTruncated: options.allowTruncated,
                cancellation: cancellation))
    }
}
#endif
