@testable import Pipeline

@testable import PipelineHTTP
@testable import PipelineImages
@testable import Stages

/// Decodes, transforms and encodes untrusted files, as a load does.
enum DecodeFuzzing {
    /// Small enough for many runs a second, large enough for every code path.
    private static let limits = ImageLimits(pixels: 1_000_000, frames: 8, memory: 100_000_000)

    /// Decodes a file whole or reduced, as a list without transforms does.
    @discardableResult
    static func decode(_ bytes: [UInt8]) -> DecodedImage? {
        guard let decoder = ImageCodecs.standard.codec(of: bytes)?.decoder else { return nil }
        var numbers = choices(for: bytes)
        var options = DecodeOptions(
            allowTruncated: numbers.below(2) == 0, frames: 1 + numbers.below(8),
            quality: numbers.below(2) == 0 ? .quality : .fast)
        let box: PixelSize? = numbers.below(2) == 0 ? nil : PixelSize(width: 1 + numbers.below(90), height: 40)
        (options.keepsDepth, options.keepsGainMap) = (numbers.below(2) == 0, true)
        options.keepsColors = options.keepsDepth
        (options.keepsHDR, options.makesHDR) = (options.keepsDepth, numbers.below(2) == 0)
        let cancellation = WorkCancellation()
        guard let header = try? decoder.header(of: bytes, cancellation: cancellation).keeping(options),
            (try? limits.check(header)) != nil,
            (try? limits.check(memory: header.decodingMemory(box: box, frames: options.frames))) != nil,
            let image = try? decoder.decode(
                bytes, header: header, box: box, options: options, cancellation: cancellation)
        else { return nil }
        check(image, header)
        let labelled = image.labelled(header.pixelColors)
        if let application = GainMapApplication(labelled) {
            guard let applied = try? application.applied(to: labelled, cancellation) else {
                preconditionFailure("a map can't be applied")
            }
            check(applied, header)
        }
        return image
    }

    /// Removes a file's metadata twice, which makes the same file, and decodes it.
    static func strip(_ bytes: [UInt8]) {
        let (codecs, cancellation) = (ImageCodecs.standard, WorkCancellation())
        let all = [false, true].flatMap { isLocation in
            [false, true].map { StrippedMetadata(isLocation: isLocation, keepsProvenance: $0) }
        }
        for metadata in all {
            guard let once = try? codecs.stripped(bytes, of: metadata, cancellation) else { continue }
            precondition((try? codecs.stripped(once, of: metadata, cancellation)) == once, "stripping has not ended")
            guard let before = pixels(bytes) else { continue }
            precondition(pixels(once) == before, "stripping changed the picture")
        }
    }

    /// A file's pixels. Near the end of its bytes libjpeg-turbo decodes by code that is slower, reports wrong codes, and goes
    /// on from them in another way, so that what follows a damaged picture would decide how it looks. Hence the zeros.
    private static func pixels(_ file: [UInt8]) -> [[UInt8]]? {
        let bytes = file + [UInt8](repeating: 0, count: 8192)
        let cancellation = WorkCancellation()
        guard let decoder = ImageCodecs.standard.codec(of: bytes)?.decoder,
            let header = try? decoder.header(of: bytes, cancellation: cancellation),
            (try? limits.check(header)) != nil,
            let image = try? decoder.decode(
                bytes, header: header, box: nil, options: DecodeOptions(frames: 2), cancellation: cancellation)
        else { return nil }
        return image.frames.map(\.bytes)
    }

    /// Decodes a file, transforms it, encodes it, and reads the header of the result.
    static func chain(_ bytes: [UInt8]) {
        guard var image = decode(bytes) else { return }
        var numbers = choices(for: bytes)
        let transforms: [any PixelTransform] = [
            Resize(.init(width: 1 + numbers.below(200), height: 1 + numbers.below(200)), fit: .inside),
            Flip(.horizontal),
            Rotate(.quarter), Blur(sigma: 1.5), Grayscale(), Trim(), CropCircle(),
            Crop(PixelSize(width: 1 + numbers.below(50), height: 1 + numbers.below(50))),
        ]
        let cancellation = WorkCancellation()
        for _ in 0..<2 {
            let transform = transforms[numbers.below(transforms.count)]
            if let transformed = try? transform.transformed(image, cancellation) { image = transformed }
        }
        guard image.size.width * image.size.height < 200_000 else { return }
        image.gainMap = try? image.gainMap?.fitted(to: image.size, cancellation)
        let formats: [ImageFormat] = [.jpeg, .png, .webp, .gif, .tiff]
        let format = formats[numbers.below(formats.count)]
        var options = EncodeOptions(quality: 1 + numbers.below(100))
        options.webp.effort = 0
        if numbers.below(2) == 0 { options.png.colors = 2 + numbers.below(255) }
        guard let encoder = ImageCodecs.standard.codec(for: format)?.encoder,
            let file = try? encoder.encode(
                image, as: format, options, metadata: EmbeddedMetadata(), cancellation: cancellation)
        else { return }
        precondition(ImageCodecs.standard.codec(of: file)?.format == format, "the encoded file isn't \(format)")
        guard let decoder = ImageCodecs.standard.codec(for: format)?.decoder,
            let header = try? decoder.header(of: file, cancellation: cancellation)
        else { preconditionFailure("the encoded \(format) has no readable header") }
        precondition(header.size == image.size, "\(format) of \(image.size) has the size \(header.size)")
    }

    /// Options derived from the file, so that any image can be a seed and the file alone reproduces a finding.
    private static func choices(for bytes: [UInt8]) -> SeededNumbers {
        SeededNumbers(seed: bytes.suffix(64).reduce(UInt64(bytes.count)) { $0 &* 31 &+ UInt64($1) })
    }

    private static func check(_ image: DecodedImage, _ header: ImageHeader) {
        precondition(image.nativeSize == header.size, "the native size differs from the header's")
        precondition(!image.frames.isEmpty, "a picture without frames")
        if let map = image.gainMap {
            precondition(map.pixels.count == map.size.width * map.size.height * map.channelCount, "a map lacks pixels")
            precondition(map.pixels.count <= header.gainMapMemory, "a map is larger than its memory")
        }
        for frame in image.frames {
            let count = image.size.width * image.size.height * image.layout.bytesPerPixel
            precondition(frame.bytes.count == count, "\(frame.bytes.count) bytes, not \(count)")
        }
    }
}
