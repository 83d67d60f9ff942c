import Pipeline
import TestFixtures
import Testing

@testable import PipelineImages

@Suite("Decode turns bytes into upright sRGB pixels")
struct DecodeTests {
    @Test("Every good file that is decoded by default has the size that the manifest says, upright")
    func sizes() async throws {
        var seen = 0
        for row in try SampleImage.manifest("good") where !["svg", "jxl"].contains(row.columns[2]) {
            guard let width = Int(row.columns[3]), let height = Int(row.columns[4]) else { continue }
            var size = PixelSize(width: width, height: height)
            // The manifest has what is stored.
            let turned = ["orientation-5", "orientation-6", "orientation-7", "orientation-8", "irot"]
            if turned.contains(where: row.name.contains) { size = PixelSize(width: height, height: width) }
            let image = try await SampleImage.decode(try Pictures.bytes("good/\(row.name)"))
            #expect(image.size == size, "\(row.name)")
            #expect(image.nativeSize == size, "\(row.name)")
            #expect(image.frames.count == 1, "\(row.name)")
            seen += 1
        }
        #expect(seen == 34)
    }

    @Test("Each of the eight orientations is applied exactly once", arguments: 1...8)
    func orientations(_ orientation: Int) async throws {
        let image = try await SampleImage.decode(
            try Pictures.bytes("good/exif-orientation-\(orientation).jpg"))
        let expected = try await SampleImage.decode(
            try Pictures.bytes("good/expected/exif-orientation-\(orientation).jpg"))
        #expect(image.size == expected.size)
        #expect(image.difference(from: expected) < 4)
        // A wrong orientation is far away: the test would notice.
        for wrong in ImageOrientation.allCases.dropFirst() {
            let size = image.size
            let turned = DecodedImage(
                size: wrong.applied(to: size), layout: .rgb,
                pixels: try wrong.applied(to: image.pixels, size: size, channels: 3))
            #expect(turned.difference(from: expected) > 20)
        }
    }

    @Test("An orientation and its inverse leave the pixels as they were", arguments: ImageOrientation.allCases)
    func inverse(_ orientation: ImageOrientation) throws {
        // Larger than a block in which pixels are moved, and no multiple of it.
        let size = PixelSize(width: 150, height: 70)
        let pixels = (0..<150 * 70 * 4).map { UInt8($0 % 251) }
        let inverse: ImageOrientation =
            switch orientation {
            case .right: .left
            case .left: .right
            default: orientation
            }
        let turned = try orientation.applied(to: pixels, size: size, channels: 4)
        #expect(try inverse.applied(to: turned, size: orientation.applied(to: size), channels: 4) == pixels)
        #expect((turned == pixels) == (orientation == .up))
    }

    @Test("Lossless WebP gives the very pixels of its PNG")
    func lossless() async throws {
        let image = try await SampleImage.decode(try Pictures.bytes("good/webp-lossless.webp"))
        let expected = try await SampleImage.decode(try Pictures.bytes("good/expected/bricks-color.png"))
        #expect(image.layout == expected.layout)
        #expect(image.pixels == expected.pixels)
    }

    @Test(
        "Grey, palette, 1-bit, 16-bit and interlaced pictures have the layout that fits them",
        arguments: [
            ("jpeg-greyscale.jpg", PixelLayout.gray), ("png-basn0g01.png", .gray), ("png-tbbn3p08.png", .rgba),
            ("png-basn6a16.png", .rgba), ("png-basi2c08.png", .rgb), ("webp-lossy-alpha.webp", .rgba),
            ("webp-lossy.webp", .rgb), ("avif-alpha-irot.avif", .rgba), ("heic-128.heif", .rgb),
        ])
    func layouts(_ name: String, _ layout: PixelLayout) async throws {
        #expect(try await SampleImage.decode(try Pictures.bytes("good/\(name)")).layout == layout)
    }

    @Test("An animation gives its first frame, or as many as are allowed, with delays and loops")
    func animations() async throws {
        for name in ["gif-animated.gif", "webp-animated.webp"] {
            let bytes = try Pictures.bytes("good/\(name)")
            #expect(try await SampleImage.decode(bytes).frames.map(\.delay) == [.zero])
            let all = try await SampleImage.decode(bytes, with: Decode(limits: ImageLimits(frames: 100)))
            #expect(all.frames.map(\.delay) == [100, 200, 300, 400].map { .milliseconds($0) })
            #expect(all.loopCount == 3)
            #expect(Set(all.frames).count == 4)
            let two = try await SampleImage.decode(bytes, with: Decode(limits: ImageLimits(frames: 2)))
            #expect(two.frames.map(\.pixels) == all.frames.prefix(2).map(\.pixels))
        }
    }

    @Test("An animated WebP that is cut off is an error, or gives the frames that are there")
    func animationCutOff() async throws {
        let whole = try Pictures.bytes("good/webp-animated.webp")
        let all = try await SampleImage.decode(whole, with: Decode(limits: ImageLimits(frames: 9)))
        let cut = Array(whole.prefix(whole.count * 2 / 3))
        let error = try await #require(throws: LoadError.self) {
            try await SampleImage.decode(cut, with: Decode(limits: ImageLimits(frames: 9)))
        }
        #expect(error.code == .undecodable)
        let there = try await SampleImage.decode(
            cut, with: Decode(limits: ImageLimits(frames: 9), allowTruncated: true))
        #expect((1..<4).contains(there.frames.count))
        #expect(there.frames[0].pixels == all.frames[0].pixels)
    }

    @Test("An animation keeps its frames' places, delays and loops through resize and crop")
    func animationsTransformed() async throws {
        let bytes = try Pictures.bytes("good/gif-disposal-1231-transparent.gif")
        let decode = Decode(limits: ImageLimits(frames: 100))
        let all = try await SampleImage.decode(bytes, with: decode)
        let response = try await SampleImage.load(bytes) {
            decode
            Resize(48)
            Crop(x: 0, y: 0, width: 40, height: 30)
        }
        let small = try #require(response.image)
        #expect(small.size == PixelSize(width: 40, height: 30))
        // The second frame has no delay; the third lies on nothing, the fourth too.
        #expect(small.frames.map(\.delay) == [100, 0, 200, 650].map { .milliseconds($0) })
        #expect(small.frames.map(\.delay) == all.frames.map(\.delay))
        #expect(small.loopCount == 3)
        for (index, frame) in small.frames.enumerated() {
            let still = DecodedImage(size: all.size, layout: all.layout, pixels: all.frames[index].pixels)
            let expected = try await Crop(x: 0, y: 0, width: 40, height: 30).apply(try await Resize(48).apply(still))
            let shown = DecodedImage(size: small.size, layout: small.layout, pixels: frame.pixels)
            #expect(shown.difference(from: expected) < 1)
        }
        #expect(small.frames[0].pixels[3] == 255)
        #expect(small.frames[2].pixels[3] == 0)
    }

    @Test(
        "With a box the decode is no larger than need be and never smaller than the fit",
        arguments: [
            "photo-12mp-baseline-420.jpg", "webp-lossy-alpha.webp", "avif-photo.avif", "tiff-jpeg-tiled.tif",
            "jpeg-cmyk-icc.jpg", "exif-orientation-6.jpg", "png-icc-rec2020.png", "gif-disposal-1231-transparent.gif",
        ])
    func boxes(_ name: String) async throws {
        let bytes = try Pictures.bytes("good/\(name)")
        let native = try await SampleImage.decode(bytes).size
        for side in [1, 7, 20, 33, 60, 5000] {
            let image = try await SampleImage.decode(bytes, maxPixelSize: PixelSize(square: side))
            let fit = native.fitted(into: PixelSize(square: side))
            #expect(image.nativeSize == native)
            #expect(image.width >= fit.width && image.height >= fit.height)
            #expect(image.width <= native.width && image.height <= native.height)
            #expect(Double(image.width) <= 4 * Double(fit.width) + 16)
        }
    }

    @Test("SVG and JPEG XL are told apart and refused unless they are chosen")
    func unsupported() async throws {
        for (name, type) in [("svg-shapes.svg", "svg"), ("jxl.jxl", "jxl")] {
            let error = try await #require(throws: LoadError.self) {
                try await SampleImage.decode(try Pictures.bytes("good/\(name)"))
            }
            #expect(error.code == .unsupportedType)
            #expect(error.message.contains("image/\(type)"))
            #expect(error.stage == "Decode")
        }
    }

    @Test("SVG and JPEG XL are refused in the program's own process even if they are chosen")
    func chosen() async throws {
        for name in ["svg-shapes.svg", "jxl.jxl"] {
            let bytes = try Pictures.bytes("good/\(name)")
            let error = await #expect(throws: LoadError.self) {
                try await SampleImage.decode(bytes, with: Decode(codecs: [.svg, .jxl]))
            }
            #expect(error?.code == .unsupportedType)
            #expect(error?.message.contains("Isolate the codecs in a DecoderPool") == true)
            await #expect(throws: LoadError.self) { try await ImageMetadata(of: bytes, codecs: [.svg, .jxl]) }
        }
    }

    @Test("A file that is cut off is an error, or a picture if that is allowed")
    func truncated() async throws {
        for path in ["good/photo-12mp-baseline-420.jpg", "good/webp-lossy.webp", "good/expected/bricks-color.png"] {
            let whole = try Pictures.bytes(path)
            let half = Array(whole.prefix(whole.count / 2))
            let error = try await #require(throws: LoadError.self) { try await SampleImage.decode(half) }
            #expect(error.code == .undecodable)
            #expect(error.message.contains("cut off"))
            #expect(error.subject == "(\(half.count) bytes in memory)")
            let picture = try await SampleImage.decode(half, with: Decode(allowTruncated: true))
            #expect(try await SampleImage.decode(whole).size == picture.size)
        }
    }

    @Test("What changes the pixels is in the signature, and what doesn't is not")
    func signature() {
        #expect(Decode().signature == Decode(limits: ImageLimits(pixels: 1, encodedBytes: 1)).signature)
        #expect(Decode().signature != Decode(allowTruncated: true).signature)
        #expect(Decode().signature != Decode(limits: ImageLimits(frames: 2)).signature)
    }

    @Test("A decoder of one's own takes a format over")
    func ownDecoder() async throws {
        struct Constant: ImageDecoding {
            func header(of bytes: [UInt8], cancellation: WorkCancellation) -> ImageHeader {
                ImageHeader(format: .bmp, storedSize: 1)
            }
            func decode(
                _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions,
                cancellation: WorkCancellation
            ) -> DecodedImage { DecodedImage(size: 1, layout: .gray, pixels: [7]) }
        }
        let decode = Decode(codecs: .standard.adding(ImageCodec.bmp.decoding(with: Constant())))
        let image = try await SampleImage.decode(try Pictures.bytes("good/bmp-rgb24.bmp"), with: decode)
        #expect(image.pixels == [7])
    }
}
