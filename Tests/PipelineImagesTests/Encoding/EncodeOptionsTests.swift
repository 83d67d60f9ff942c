import Pipeline
import TestFixtures
import Testing

@testable import PipelineImages

@Suite("Each format has options of its own, and they are checked")
struct EncodeOptionsTests {
    private func photograph() async throws -> DecodedImage {
        let bytes = try Pictures.bytes("good/jpeg-progressive-444.jpg")
        return try #require(
            try await SampleImage.load(bytes, maxPixelSize: 200) {
                Decode()
                Downscale()
            }.image)
    }

    private func encoded(
        _ image: DecodedImage, _ format: ImageFormat, _ change: (inout EncodeOptions) -> Void = { _ in }
    ) async throws -> [UInt8] {
        var options = EncodeOptions()
        change(&options)
        return try #require(
            try await SampleImage.process(image) { Encode(format, options: options) }.encoded
        ).bytes
    }

    /// The markers of a JPEG file's frame: 0xc0 or 0xc2, and how many pixels share a colour.
    private func frame(_ bytes: [UInt8]) -> (marker: UInt8, columns: Int, rows: Int)? {
        for index in 0..<bytes.count - 20 where bytes[index] == 0xff && [0xc0, 0xc2].contains(bytes[index + 1]) {
            return (bytes[index + 1], Int(bytes[index + 11] >> 4), Int(bytes[index + 11] & 15))
        }
        return nil
    }

    @Test("JPEG is baseline with a colour for four pixels, and one for each from quality 90 on")
    func jpegDefaults() async throws {
        let image = try await photograph()
        let plain = try #require(frame(try await encoded(image, .jpeg)))
        #expect(plain == (0xc0, 2, 2))
        let fine = try #require(frame(try await encoded(image, .jpeg) { $0.quality = 90 }))
        #expect(fine == (0xc0, 1, 1))
    }

    @Test("JPEG can be progressive, and its chroma chosen")
    func jpegOptions() async throws {
        let image = try await photograph()
        let bytes = try await encoded(image, .jpeg) {
            $0.jpeg.progressive = true
            $0.jpeg.chroma = .half
        }
        #expect(try #require(frame(bytes)) == (0xc2, 2, 1))
        #expect(try await SampleImage.decode(bytes).difference(from: image) < 6)
        let full = try await encoded(image, .jpeg) { $0.jpeg.chroma = .full }
        #expect(try #require(frame(full)) == (0xc0, 1, 1))
        let fixed = try await encoded(image, .jpeg) { $0.jpeg.optimizesCodes = false }
        let optimized = try await encoded(image, .jpeg)
        #expect(optimized.count < fixed.count)
    }

    @Test("PNG loses nothing at any level with any filter, and levels and filters make a difference")
    func png() async throws {
        let image = try await photograph()
        var sizes: [Int] = []
        for filter in EncodeOptions.PNG.Filter.allCases {
            for level in [0, 1, 6, 9] {
                let bytes = try await encoded(image, .png) {
                    $0.png.filter = filter
                    $0.png.compression = level
                }
                #expect(try await SampleImage.decode(bytes).pixels == image.pixels, "\(filter) \(level)")
                sizes.append(bytes.count)
            }
        }
        #expect(Set(sizes).count > 15)
        #expect(sizes.last == sizes.min())
    }

    @Test(
        "What is large is written in strips, and a long row in pieces, with the same pixels",
        arguments: [PixelSize(width: 1600, height: 1000), PixelSize(width: 200_000, height: 3)],
        [PixelLayout.gray, .rgb, .rgba])
    func largePNG(_ size: PixelSize, _ layout: PixelLayout) async throws {
        let pixels = (0..<size.bytes(layout.channelCount)).map { UInt8(truncatingIfNeeded: $0 / 7 ^ $0 / 5000) }
        let image = DecodedImage(size: size, layout: layout, pixels: pixels)
        for level in [0, 6, 9] {
            let bytes = try await encoded(image, .png) { $0.png.compression = level }
            let limits = ImageLimits(side: 200_000)
            #expect(try await SampleImage.decode(bytes, with: Decode(limits: limits)).pixels == image.pixels)
            let other = Decode(
                codecs: [ImageCodec.png.decoding(with: VipsDecoder.png)], limits: limits)
            #expect(try await SampleImage.decode(bytes, with: other).pixels == image.pixels)
        }
    }

    @Test("PNG with a palette has no more colours than asked for, and is far smaller")
    func palette() async throws {
        let image = try await photograph()
        let plain = try await encoded(image, .png).count
        for (asked, most) in [(256, 256), (100, 16), (16, 16), (3, 2)] {
            let bytes = try await encoded(image, .png) { $0.png.colors = asked }
            #expect(bytes.count < plain / 2)
            let again = try await SampleImage.decode(bytes)
            let colors = Set((0..<again.width * again.height).map { Array(again.pixels[$0 * 3..<$0 * 3 + 3]) })
            #expect(colors.count <= most, "\(asked)")
        }
    }

    @Test("WebP without loss keeps every pixel, and effort makes it smaller")
    func webp() async throws {
        let image = try await photograph()
        let lossless = try await encoded(image, .webp) { $0.webp.lossless = true }
        #expect(try await SampleImage.decode(lossless).pixels == image.pixels)
        let quick = try await encoded(image, .webp) { $0.webp.effort = 0 }
        let slow = try await encoded(image, .webp) { $0.webp.effort = 6 }
        #expect(slow.count < quick.count)
    }

    @Test("AVIF at any effort is the same picture, and without loss it keeps every pixel")
    func avif() async throws {
        let image = try await photograph()
        for effort in [0, 4] {
            let bytes = try await encoded(image, .avif) { $0.avif.effort = effort }
            #expect(try await SampleImage.decode(bytes).difference(from: image) < 6)
        }
        let lossless = try await encoded(image, .avif) {
            $0.avif.lossless = true
            $0.avif.effort = 0
        }
        #expect(try await SampleImage.decode(lossless).pixels == image.pixels)
    }

    @Test("GIF has no more colours than asked for", arguments: [2, 16, 200])
    func gif(_ asked: Int) async throws {
        let again = try await SampleImage.decode(
            try await encoded(try await photograph(), .gif) { $0.gif.colors = asked })
        let channels = again.layout.channelCount
        let colors = Set(
            (0..<again.width * again.height).map { Array(again.pixels[$0 * channels..<($0 + 1) * channels]) })
        #expect(colors.count <= asked)
        #expect(colors.count > 1)
    }

    @Test("TIFF is packed as asked, and loses nothing")
    func tiff() async throws {
        let image = try await photograph()
        var sizes: [Int] = []
        for compression in EncodeOptions.TIFF.Compression.allCases {
            let bytes = try await encoded(image, .tiff) { $0.tiff.compression = compression }
            #expect(try await SampleImage.decode(bytes).pixels == image.pixels)
            sizes.append(bytes.count)
        }
        #expect(sizes == sizes.sorted(by: >))
    }

    @Test(
        "maxBytes lowers the quality until the file fits, no further than it has to",
        arguments: [ImageFormat.jpeg, .webp, .avif])
    func maxBytes(_ format: ImageFormat) async throws {
        let image = try await photograph()
        let full = try await encoded(image, format).count
        let bytes = try await encoded(image, format) { $0.maxBytes = full / 2 }
        #expect(bytes.count <= full / 2)
        #expect(bytes.count > full / 4)
        let generous = try await encoded(image, format) { $0.maxBytes = full }
        #expect(generous.count == full)
    }

    @Test("Where nothing fits the error says how small it gets and what to do")
    func nothingFits() async throws {
        let image = try await photograph()
        for format in [ImageFormat.jpeg, .png] {
            let error = try await #require(throws: LoadError.self) {
                try await encoded(image, format) { $0.maxBytes = 100 }
            }
            #expect(error.code == .unencodable)
            #expect(error.message.contains("maxBytes allows 100"))
            #expect(error.message.contains("maxPixelSize"))
        }
    }

    @Test("An option out of its range is an error that names both")
    func ranges() async throws {
        let changes: [(String, (inout EncodeOptions) -> Void)] = [
            ("quality", { $0.quality = 0 }), ("quality", { $0.quality = 101 }), ("maxBytes", { $0.maxBytes = 0 }),
            ("png.compression", { $0.png.compression = 10 }), ("png.colours", { $0.png.colors = 1 }),
            ("png.dither", { $0.png.dither = 1.1 }), ("webp.effort", { $0.webp.effort = 7 }),
            ("avif.effort", { $0.avif.effort = -1 }), ("gif.colours", { $0.gif.colors = 257 }),
            ("gif.dither", { $0.gif.dither = -0.5 }), ("gif.effort", { $0.gif.effort = 0 }),
        ]
        let dot = DecodedImage(size: 1, layout: .gray, pixels: [0])
        for (name, change) in changes {
            let error = try await #require(throws: LoadError.self) { try await encoded(dot, .jpeg, change) }
            #expect(error.code == .unencodable)
            #expect(error.message.contains("The option \(name) is "), "\(error)")
        }
    }

    @Test("Every option that makes a difference to a format's bytes is in its signature, and no other")
    func signatures() {
        let changes: [(ImageFormat, (inout EncodeOptions) -> Void)] = [
            (.jpeg, { $0.quality = 81 }), (.jpeg, { $0.maxBytes = 1 }), (.jpeg, { $0.metadata = .icc }),
            (.jpeg, { $0.jpeg.progressive = true }), (.jpeg, { $0.jpeg.chroma = .full }),
            (.jpeg, { $0.jpeg.optimizesCodes = false }), (.png, { $0.png.compression = 1 }),
            (.png, { $0.png.filter = .up }), (.png, { $0.png.colors = 256 }), (.png, { $0.png.dither = 0 }),
            (.webp, { $0.webp.lossless = true }), (.webp, { $0.webp.effort = 1 }), (.avif, { $0.avif.lossless = true }),
            (.avif, { $0.avif.effort = 1 }), (.avif, { $0.avif.chroma = .full }), (.gif, { $0.gif.colors = 2 }),
            (.gif, { $0.gif.dither = 0 }), (.gif, { $0.gif.effort = 1 }), (.tiff, { $0.tiff.compression = .lzw }),
        ]
        let all = AcceptedFormats(accept: nil)
        for (format, change) in changes {
            var options = EncodeOptions()
            change(&options)
            #expect(Encode(format, options: options).signature != Encode(format).signature)
            #expect(Encode(all, options: options).signature != Encode(all).signature || format == .tiff)
        }
        var others = EncodeOptions()
        others.png.compression = 1
        others.webp.effort = 0
        #expect(Encode(.jpeg, options: others).signature == Encode(.jpeg).signature)
    }

    @Test("A format chosen by the client's Accept field is noted, and declared as the result's type")
    func automatic() async throws {
        let image = try await photograph()
        let response = try await SampleImage.process(image) { Encode(AcceptedFormats(accept: "image/webp")) }
        #expect(response.encoded?.declaredType == "image/webp")
        #expect(ImageCodecs.known.format(of: try #require(response.encoded).bytes) == .webp)
        // An alpha channel that is opaque everywhere is no transparency.
        let opaque = DecodedImage(size: 2, layout: .rgba, pixels: [UInt8](repeating: 255, count: 16))
        let jpeg = try await SampleImage.process(opaque) { Encode(AcceptedFormats(accept: nil)) }
        #expect(jpeg.encoded?.declaredType == "image/jpeg")
        let clear = DecodedImage(size: 2, layout: .rgba, pixels: [UInt8](repeating: 254, count: 16))
        let png = try await SampleImage.process(clear) { Encode(AcceptedFormats(accept: nil)) }
        #expect(png.encoded?.declaredType == "image/png")
    }

    @Test(
        "A picture too large for its format is an error that says how large it may be",
        arguments: [
            (ImageFormat.jpeg, 65_501, 65_500), (.webp, 16_384, 16_383), (.gif, 65_536, 65_535),
            (.avif, 16_385, 16_384),
        ])
    func tooLarge(_ format: ImageFormat, _ side: Int, _ limit: Int) async throws {
        let image = DecodedImage(
            size: PixelSize(width: 1, height: side), layout: .gray, pixels: [UInt8](repeating: 9, count: side))
        let error = try await #require(throws: LoadError.self) { try await encoded(image, format) }
        #expect(error.code == .unencodable)
        #expect(error.message.contains("\(limit)"))
        #expect(error.message.contains("1×\(side)"))
    }

    @Test("A picture without pixels is an error", arguments: [ImageFormat.jpeg, .png, .webp, .avif, .gif, .tiff])
    func empty(_ format: ImageFormat) async throws {
        for size in [PixelSize(width: 0, height: 0), PixelSize(width: 0, height: 5), PixelSize(width: 5, height: 0)] {
            let image = DecodedImage(size: size, layout: .rgb, pixels: [])
            let error = try await #require(throws: LoadError.self) { try await encoded(image, format) }
            #expect(error.code == .unencodable)
            #expect(error.message.contains("no pixels"))
        }
    }

    @Test("The largest JPEG and PNG that there can be in one direction are written")
    func largest() async throws {
        for (format, side) in [(ImageFormat.jpeg, 65_500), (.png, 100_000), (.webp, 16_383)] {
            let image = DecodedImage(
                size: PixelSize(width: side, height: 1), layout: .gray, pixels: [UInt8](repeating: 9, count: side))
            #expect(try await SampleImage.decode(try await encoded(image, format)).size == image.size)
        }
    }
}
