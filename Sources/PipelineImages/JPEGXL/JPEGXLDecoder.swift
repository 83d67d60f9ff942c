#if JPEGXL
import CJXL
import Pipeline

/// Decodes JPEG XL with libjxl, which is loaded with the first file.
///
/// libjxl draws layers, spot colours and the frames of animations on each other, and turns the result upright.
struct JPEGXLDecoder: PreparedOnDemand {
    func prepare() {
        var failure = cjxl_failure()
        _ = cjxl_is_available(&failure)
    }

    /// Reads the header, and finds the frames of an animation without decoding them.
    func header(of bytes: [UInt8], cancellation: WorkCancellation) throws -> ImageHeader {
        try JPEGXLContainer.codestream(of: bytes).withUnsafeBufferPointer { buffer in
            try JPEGXLFile(buffer, decodes: false, cancellation).imageHeader()
        }
    }

    /// Decodes the first frames, each scaled at once. It can stop between two groups of 256 × 256 pixels.
    func decode(
        _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions, cancellation: WorkCancellation
    ) throws -> DecodedImage {
        try JPEGXLContainer.codestream(of: bytes).withUnsafeBufferPointer { buffer in
            let file = try JPEGXLFile(buffer, decodes: true, cancellation)
            let deep = DeepSamples(file)
            var header = header
            if let deep { header.convertedColors = deep.remaining }
            let scaling = CanvasScaling(
                header: header, size: header.storedSize(for: box), layout: file.layout, quality: options.quality,
                profile: file.profile)
            let count = max(1, min(header.frames, options.frames))
            return try scaling.image(
                try frames(of: file, deep, scaling, count, options.allowTruncated, cancellation))
        }
    }

    private func frames(
        of file: JPEGXLFile, _ deep: DeepSamples?, _ scaling: CanvasScaling, _ count: Int, _ allowTruncated: Bool,
        _ cancellation: WorkCancellation
    ) throws -> [DecodedImage.Frame] {
        let channels = scaling.layout.channelCount
        let pixels = UnsafeMutableBufferPointer<UInt8>.allocate(
            capacity: scaling.header.storedSize.bytes(deep == nil ? channels : 2 * channels))
        defer { pixels.deallocate() }
        // What a truncated file lacks is transparent or black.
        pixels.initialize(repeating: 0)
        var frames: [DecodedImage.Frame] = []
        var (shown, end) = (0.0, 0.0)
        while frames.count < count {
            do {
                end += try file.read(into: pixels, allowTruncated: allowTruncated && frames.isEmpty)
            } catch let error as LoadError {
                if allowTruncated, !frames.isEmpty { break }
                throw error
            }
            try deep?.reduce(pixels, channels: channels, cancellation)
            guard let start = pixels.baseAddress else { break }
            // Delays are differences of rounded times, so that rounding errors don't add up.
            let delay = min(1e12, max(0, end.rounded() - shown))
            shown += delay
            frames.append(
                DecodedImage.Frame(
                    pixels: try scaling.scaled(start, cancellation), delay: .milliseconds(count > 1 ? Int(delay) : 0)))
        }
        return frames
    }
}

/// Reduces samples of 16 bits whose dark tones 8 bits would lose: of linear light, PQ and HLG.
private struct DeepSamples {
    private let tones: ToneMapping?
    /// The colours of the result; `nil` for sRGB.
    let remaining: CodedColors?

    /// The sRGB level of each level of linear light.
    private static let levels = (0...65535).map { ICCConversion.level(Double($0) / 65535) }

    /// Returns `nil` if the file has none.
    init?(_ file: JPEGXLFile) {
        guard file.header.is_deep, let colors = file.colors else { return nil }
        tones = ToneMapping(colors, bits: 16)
        let primaries = CodedColors(primaries: colors.primaries, transfer: 13, matrix: 0, isFullRange: true)
        remaining = tones == nil && primaries.differsFromSRGB ? primaries : nil
    }

    /// Replaces samples by those of one byte. A result ends before the next samples begin.
    func reduce(
        _ samples: UnsafeMutableBufferPointer<UInt8>, channels: Int, _ cancellation: WorkCancellation
    ) throws {
        guard let start = samples.baseAddress else { return }
        let (pixels, step) = (samples.count / (2 * channels), 1 << 16)
        for first in stride(from: 0, to: pixels, by: step) {
            try cancellation.check()
            let count = min(step, pixels - first)
            let (from, to) = (start + 2 * first * channels, start + first * channels)
            if let tones {
                tones.convert(from, to: to, count: count, channels: channels)
                continue
            }
            for index in 0..<count * channels {
                let isAlpha = channels == 4 && index % 4 == 3
                to[index] =
                    isAlpha ? from[2 * index] : Self.levels[Int(from[2 * index]) << 8 | Int(from[2 * index + 1])]
            }
        }
    }
}
#endif
