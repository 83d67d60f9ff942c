import Pipeline
import TestFixtures
import Testing

@testable import PipelineImages

@Suite("Encode turns pixels into the bytes of a file")
struct EncodeTests {
    private func encoded(_ image: DecodedImage, _ stage: Encode) async throws -> EncodedImage {
        try #require(try await SampleImage.process(image) { stage }.encoded)
    }

    private func photograph() async throws -> DecodedImage {
        let response = try await SampleImage.load(
            try Pictures.bytes("good/photo-12mp-baseline-420.jpg"), maxPixelSize: 200
        ) {
            Decode()
            Downscale()
        }
        return try #require(response.image)
    }

    @Test(
        "What is encoded decodes to the same picture",
        arguments: [
            (ImageFormat.jpeg, 6.0), (.png, 0), (.webp, 6), (.avif, 6), (.tiff, 0), (.gif, 12),
        ])
    func roundTrip(_ format: ImageFormat, _ tolerance: Double) async throws {
        let image = try await photograph()
        let file = try await encoded(image, Encode(format, quality: 90))
        #expect(ImageCodecs.known.format(of: file.bytes) == format)
        #expect(file.declaredType == format.rawValue)
        #expect(file.size == image.size)
        #expect(file.nativeSize == PixelSize(width: 4032, height: 2976))
        let again = try await SampleImage.decode(file.bytes)
        #expect(again.difference(from: image) <= tolerance)
    }

    @Test("Grey stays grey, and alpha stays, where the format can")
    func layouts() async throws {
        let ramp = (0..<64 * 64).map { UInt8($0 % 64 * 4) }
        let gray = DecodedImage(size: 64, layout: .gray, pixels: ramp)
        for format in [ImageFormat.jpeg, .png, .webp, .avif, .tiff, .gif] {
            let again = try await SampleImage.decode(try await encoded(gray, Encode(format, quality: 95)).bytes)
            #expect(abs(again.means[0] - gray.means[0]) < 3, "\(format)")
            #expect(again.layout == ([.jpeg, .png, .tiff].contains(format) ? .gray : again.layout))
        }
        let alpha = DecodedImage(size: 64, layout: .rgba, pixels: ramp.flatMap { [200, 100, 50, $0] })
        for format in [ImageFormat.png, .webp, .avif, .tiff] {
            let again = try await SampleImage.decode(try await encoded(alpha, Encode(format, quality: 95)).bytes)
            #expect(again.layout == .rgba, "\(format)")
            #expect(abs(again.means[3] - alpha.means[3]) < 2, "\(format)")
        }
    }

    @Test("JPEG shows what is transparent as white")
    func whiteBackground() async throws {
        let clear = DecodedImage(
            size: 16, layout: .rgba, pixels: (0..<256).flatMap { _ in [0, 0, 0, 0] as [UInt8] })
        let again = try await SampleImage.decode(try await encoded(clear, Encode(.jpeg)).bytes)
        #expect(again.pixels.allSatisfy { $0 >= 254 })
    }

    @Test(
        "PNG, GIF, WebP and AVIF keep every frame with its delay and the loops; others get the first",
        arguments: ["gif", "webp"])
    func animation(_ from: String) async throws {
        let decode = Decode(limits: ImageLimits(frames: 10))
        let image = try await SampleImage.decode(
            try Pictures.bytes("good/\(from == "gif" ? "gif-animated.gif" : "webp-animated.webp")"), with: decode)
        for format in [ImageFormat.png, .gif, .webp, .avif] {
            let again = try await SampleImage.decode(try await encoded(image, Encode(format)).bytes, with: decode)
            #expect(again.frames.map(\.delay) == image.frames.map(\.delay), "\(format)")
            #expect(again.loopCount == image.loopCount, "\(format)")
        }
        for format in [ImageFormat.jpeg, .tiff] {
            let again = try await SampleImage.decode(try await encoded(image, Encode(format)).bytes, with: decode)
            #expect(again.frames.count == 1, "\(format)")
            #expect(again.size == image.size, "\(format)")
        }
    }

    @Test(
        "What an animation shows is kept, frame by frame, whatever was left standing or cleared between them",
        arguments: ["gif-disposal-1231-transparent.gif", "gif-animated.gif", "webp-animated.webp"],
        [ImageFormat.gif, .webp])
    func disposal(_ name: String, _ format: ImageFormat) async throws {
        let decode = Decode(limits: ImageLimits(frames: 10))
        let image = try await SampleImage.decode(try Pictures.bytes("good/\(name)"), with: decode)
        var options = EncodeOptions(quality: 95)
        options.webp.lossless = true
        let again = try await SampleImage.decode(
            try await encoded(image, Encode(format, options: options)).bytes, with: decode)
        #expect(again.frames.count == image.frames.count)
        #expect(again.frames.map(\.delay) == image.frames.map(\.delay))
        for (frame, expected) in zip(again.rgbaFrames, image.rgbaFrames) {
            var sum = 0
            for (pixel, wanted) in zip(frame, expected) {
                // GIF's pixels are clear or not at all.
                #expect(pixel[3] == wanted[3] || format == .gif && (pixel[3] > 127) == (wanted[3] > 127))
                if wanted[3] > 127 { sum += (0..<3).reduce(0) { $0 + abs(Int(pixel[$1]) - Int(wanted[$1])) } }
            }
            #expect(Double(sum) / Double(3 * frame.count) < (format == .gif ? 6 : 0.01))
        }
    }

    @Test("A lower quality makes a smaller file", arguments: [ImageFormat.jpeg, .webp, .avif])
    func quality(_ format: ImageFormat) async throws {
        let image = try await photograph()
        var last = Int.max
        for quality in [95, 80, 40, 5] {
            let count = try await encoded(image, Encode(format, quality: quality)).bytes.count
            #expect(count < last)
            last = count
        }
    }

    @Test("Quality is 80 by default, and what is out of range counts as its nearer end")
    func qualityRange() {
        #expect(Encode(.jpeg).options.quality == 80)
        #expect(Encode(.jpeg, quality: 0).options.quality == 1)
        #expect(Encode(.jpeg, quality: 500).options.quality == 100)
        #expect(Encode(.jpeg).signature != Encode(.jpeg, quality: 81).signature)
        #expect(Encode(.jpeg).signature != Encode(.png).signature)
    }

    @Test("A plan shows a quality only for a format that has one")
    func shownQuality() {
        #expect(Encode(.jpeg).parameters == "image/jpeg, quality: 80")
        for format in [ImageFormat.png, .gif, .tiff] { #expect(Encode(format).parameters == "\(format)") }
    }

    @Test("No metadata is written", arguments: [ImageFormat.jpeg, .png, .webp, .avif, .tiff])
    func metadata(_ format: ImageFormat) async throws {
        let image = try await SampleImage.decode(try Pictures.bytes("good/jpeg-exif-xmp-icc.jpg"))
        let bytes = try await encoded(image, Encode(format)).bytes
        for name in ["Exif", "EXIF", "eXIf", "ICC_PROFILE", "iCCP", "ICCP", "http://ns.adobe.com/xap"] {
            #expect(bytes.firstRange(of: Array(name.utf8)) == nil, "\(name)")
        }
    }

    @Test("A format without an encoder, and a picture too large for its format, are errors that say so")
    func refused() async throws {
        let dot = DecodedImage(size: 1, layout: .gray, pixels: [0])
        for format in [ImageFormat.heic, .svg, .bmp, ImageFormat(rawValue: "image/x-own")] {
            let error = try await #require(throws: LoadError.self) { try await encoded(dot, Encode(format)) }
            #expect(error.code == .unencodable)
            #expect(error.message.contains(format.rawValue))
        }
        let wide = DecodedImage(
            size: PixelSize(width: 70_000, height: 1), layout: .gray, pixels: [UInt8](repeating: 0, count: 70_000))
        for format in [ImageFormat.webp, .jpeg, .gif] {
            let error = try await #require(throws: LoadError.self) { try await encoded(wide, Encode(format)) }
            #expect(error.code == .unencodable)
            #expect(error.message.contains("70000"))
        }
    }

    @Test("A cancelled Encode ends with CancellationError", arguments: [ImageFormat.jpeg, .webp, .png])
    func cancelled(_ format: ImageFormat) async throws {
        let image = try await photograph()
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await encoded(image, Encode(format))
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        // The encoders themselves look as well.
        let cancellation = WorkCancellation()
        cancellation.cancel()
        #expect(throws: CancellationError.self) {
            try EncodeOptions().file(of: image, format, cancellation)
        }
    }
}

extension DecodedImage {
    /// The four channels of every pixel of every frame.
    var rgbaFrames: [[[UInt8]]] {
        frames.map { frame in
            (0..<width * height).map { index in
                let pixel = Array(frame.pixels[index * layout.channelCount..<(index + 1) * layout.channelCount])
                switch layout {
                case .gray: return [pixel[0], pixel[0], pixel[0], 255]
                case .rgb: return pixel + [255]
                default: return pixel
                }
            }
        }
    }
}
