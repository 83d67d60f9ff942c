import CAVIF
public import Pipeline

/// Decodes AVIF: sequences with libavif, which is loaded when the first one comes, still pictures with libvips.
///
/// Without libavif a sequence is a still picture too: its first.
public struct AVIFDecoder: ImageDecoding {
    /// AVIF.
    public let formats: Set<ImageFormat> = [.avif]

    private let stills = VipsDecoder()

    /// Makes a decoder.
    public init() {}

    /// Reads a sequence's movie, or what libheif says of a still picture.
    public func header(
        of bytes: [UInt8], format: ImageFormat, cancellation: WorkCancellation
    ) throws -> ImageHeader {
        guard let sequence = try AVIFSequence(bytes) else {
            return try stills.header(of: bytes, format: format, cancellation: cancellation)
        }
        var header = ImageHeader(
            format: .avif, storedSize: sequence.size, orientation: sequence.orientation, frames: sequence.frames,
            loopCount: sequence.loops, hasAlpha: sequence.hasAlpha, hasProfile: !sequence.profile.isEmpty,
            bitsPerChannel: sequence.bits)
        header.codedSize = .larger(try HEIFCodedSize.largest(in: bytes), header.storedSize) ?? header.storedSize
        header.memory = Self.memory(header)
        return header
    }

    /// Eight pictures that others are made from and the one in the making, the same of their transparency, the canvas,
    /// and what libavif notes of each frame.
    private static func memory(_ header: ImageHeader) -> Int {
        let planes = (header.bitsPerChannel > 8 ? 2 : 1) * (header.hasAlpha ? 36 : 27)
        let (notes, overflows) = (64 * min(header.frames, 1 << 40)).addingReportingOverflow(
            header.storedSize.bytes(planes + 4))
        return overflows ? .max : notes
    }

    /// Decodes the first frames, each scaled as soon as it is there. It can stop only between two frames.
    public func decode(
        _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions, cancellation: WorkCancellation
    ) throws -> DecodedImage {
        guard let sequence = try AVIFSequence(bytes) else {
            return try stills.decode(bytes, header: header, box: box, options: options, cancellation: cancellation)
        }
        let count = max(1, min(header.frames, options.frames))
        var failure = cavif_failure()
        guard cavif_is_available(&failure) else {
            guard count == 1 else {
                throw LoadError(
                    .unsupportedType, subject: "",
                    "The image/avif file has \(header.frames) frames, and \(failure.words); or ask for one frame.")
            }
            return try first(bytes, header, box, options, cancellation)
        }
        let scaling = CanvasScaling(
            header: header, size: header.storedSize(for: box), layout: header.hasAlpha ? .rgba : .rgb,
            quality: options.quality, profile: sequence.profile.isEmpty ? nil : sequence.profile)
        return scaling.image(
            try AVIFFrames(scaling: scaling).frames(
                of: bytes, count: count, allowTruncated: options.allowTruncated, cancellation: cancellation))
    }

    /// The still picture that stands for the sequence.
    private func first(
        _ bytes: [UInt8], _ header: ImageHeader, _ box: PixelSize?, _ options: DecodeOptions,
        _ cancellation: WorkCancellation
    ) throws -> DecodedImage {
        let still = try stills.header(of: bytes, format: .avif, cancellation: cancellation)
        // The limits were held against the sequence's size.
        guard still.storedSize.bytes(1) <= header.codedSize.bytes(1) else {
            throw AVIFSequence.damaged("its still picture is larger than its frames")
        }
        return try stills.decode(bytes, header: still, box: box, options: options, cancellation: cancellation)
    }
}
