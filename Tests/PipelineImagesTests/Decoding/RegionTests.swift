import Foundation
import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineImages

@Suite("A crop that comes first decodes only its part, and the result is that of cutting the whole picture")
struct RegionTests {
    /// What comes out of `Decode`, and the image at the end.
    private func load(
        _ bytes: [UInt8], _ decode: Decode = Decode(), maxPixelSize: PixelSize? = nil,
        @ChainBuilder _ stages: () -> Chain
    ) async throws -> (note: String, image: DecodedImage) {
        let response = try await SampleImage.load(bytes, maxPixelSize: maxPixelSize) {
            decode
            Downscale()
            WatchDecoding()
            stages()
        }
        return (response.trace.entries(of: WatchDecoding.self).first?.note ?? "", try #require(response.image))
    }

    /// Rectangles at each corner, of one pixel, of all pixels, and anywhere.
    private func rectangles(in size: PixelSize, seed: UInt64, count: Int = 12) -> [PixelRegion] {
        var generator = SeededGenerator(seed: seed)
        var result = [
            PixelRegion(x: 0, y: 0, size: size), PixelRegion(x: 0, y: 0, size: 1),
            PixelRegion(x: size.width - 1, y: size.height - 1, size: 1),
            PixelRegion(x: size.width - 1, y: 0, size: PixelSize(width: 1, height: size.height)),
            PixelRegion(x: 0, y: size.height / 2, size: PixelSize(width: size.width, height: 1)),
        ]
        for _ in 0..<count {
            let (x, y) = (
                Int.random(in: 0..<size.width, using: &generator), Int.random(in: 0..<size.height, using: &generator)
            )
            result.append(
                PixelRegion(
                    x: x, y: y,
                    size: PixelSize(
                        width: Int.random(in: 1...size.width - x, using: &generator),
                        height: Int.random(in: 1...size.height - y, using: &generator))))
        }
        return result
    }

    private func crop(_ region: PixelRegion) -> Crop {
        Crop(x: region.x, y: region.y, width: region.size.width, height: region.size.height)
    }

    /// Crops of a file's picture are equal to those of its whole picture.
    private func expectEqualCrops(of bytes: [UInt8], _ name: String, seed: UInt64, count: Int = 12) async throws {
        let whole = try await SampleImage.decode(bytes)
        for region in rectangles(in: whole.size, seed: seed, count: count) {
            let (note, part) = try await load(bytes) { crop(region) }
            let expected = try await crop(region).apply(whole)
            #expect(part.size == region.size && part.nativeSize == whole.size && part.region == nil)
            #expect(note == "part \(region.size)", "\(name): \(region)")
            #expect(part.pixels == expected.pixels, "\(name): \(region), \(part.difference(from: expected))")
        }
    }

    @Test(
        "Every pixel is the same, whatever the format and the rectangle",
        arguments: [
            "jpeg-greyscale.jpg", "jpeg-progressive-444.jpg", "jpeg-restart-markers.jpg", "jpeg-cmyk-icc.jpg",
            "jpeg-icc-display-p3.jpg", "jpeg-exif-xmp-icc.jpg", "png-basi2c08.png", "png-basn0g01.png",
            "png-basn6a16.png",
            "png-icc-rec2020.png", "png-tbbn3p08.png", "png-apng-animated.png", "tiff-deflate-strip.tif",
            "tiff-jpeg-tiled.tif", "webp-lossless.webp", "webp-lossy-alpha.webp", "webp-lossy.webp",
        ])
    func formats(_ name: String) async throws {
        try await expectEqualCrops(of: try Pictures.bytes("good/\(name)"), name, seed: 1)
    }

    /// Noise in colours, in which no pixel is its neighbour's.
    private static func noise(_ size: PixelSize) -> DecodedImage {
        var generator = SeededGenerator(seed: 7)
        var level = 128
        let pixels = (0..<size.width * size.height * 3).map { _ in
            level = min(255, max(0, level + Int.random(in: -40...40, using: &generator)))
            return UInt8(level)
        }
        return DecodedImage(size: size, layout: .rgb, pixels: pixels)
    }

    private static func file(_ image: DecodedImage, _ encode: Encode) async throws -> [UInt8] {
        try #require(try await SampleImage.process(image) { encode }.encoded?.bytes)
    }

    @Test(
        "A JPEG's colours that pixels share are the same at the rims, too",
        arguments: [EncodeOptions.Chroma.full, .half, .quarter], [false, true])
    func chroma(_ chroma: EncodeOptions.Chroma, _ isProgressive: Bool) async throws {
        var options = EncodeOptions()
        options.jpeg = .init(progressive: isProgressive, chroma: chroma)
        let bytes = try await Self.file(
            Self.noise(PixelSize(width: 203, height: 149)), Encode(.jpeg, options: options))
        try await expectEqualCrops(of: bytes, "\(chroma)", seed: 2, count: 60)
    }

    @Test("Rows in the middle of a tall JPEG are the same", .timeLimit(.minutes(5)))
    func tall() async throws {
        let bytes = try Pictures.bytes("good/photo-12mp-baseline-420.jpg")
        try await expectEqualCrops(of: bytes, "photograph", seed: 3, count: 3)
    }

    @Test("The rectangle is the upright picture's, however the file is turned", arguments: 1...8)
    func orientations(_ orientation: Int) async throws {
        let bytes = try await Self.file(Self.noise(PixelSize(width: 61, height: 45)), Encode(.jpeg, quality: 90))
        // An EXIF block of one tag (EXIF 2.3 section 4.6.2).
        let exif: [UInt8] =
            [0x45, 0x78, 0x69, 0x66, 0, 0, 0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0]
            + [UInt8(orientation), 0, 0, 0, 0, 0, 0, 0]
        let turned = bytes[..<2] + [0xff, 0xe1, 0, UInt8(exif.count + 2)] + exif + bytes[2...]
        try await expectEqualCrops(of: Array(turned), "orientation \(orientation)", seed: 4, count: 20)
    }

    @Test("Rows that libjpeg gives of a part are those of the whole at the same scale", arguments: [1, 2, 4, 8])
    func sameScale(_ eighths: Int) throws {
        try expectEqualRows(of: try Pictures.bytes("good/photo-12mp-baseline-420.jpg"), eighths) {
            rectangles(in: $0, seed: 5, count: 4)
        }
    }

    private func expectEqualRows(
        of bytes: [UInt8], _ eighths: Int, in windows: (PixelSize) -> [PixelRegion]
    ) throws {
        try bytes.withUnsafeBufferPointer { buffer in
            func open() throws -> (file: JPEGFile, size: PixelSize) {
                let file = try JPEGFile(buffer, allowDamage: false, cancellation: WorkCancellation())
                return (file, try file.start(eighths: eighths))
            }
            let (file, size) = try open()
            let whole = DecodedImage(size: size, layout: .rgb, pixels: try file.pixels(size: size, layout: .rgb))
            for window in windows(size) {
                let (file, _) = try open()
                let rows = try file.narrow(to: window)
                let part = DecodedImage(
                    size: rows.size, layout: .rgb, pixels: try file.pixels(size: rows.size, layout: .rgb))
                var inner = window
                (inner.x, inner.y) = (window.x - rows.x, window.y - rows.y)
                let cancellation = WorkCancellation()
                #expect(
                    try crop(inner).transformed(part, cancellation).pixels
                        == crop(window).transformed(whole, cancellation).pixels)
            }
        }
    }

    @Test("Rows far down a wide JPEG are the same at every scale, however many steps it takes to get there")
    func steps() async throws {
        let photograph = try await SampleImage.decode(try Pictures.bytes("good/photo-12mp-baseline-420.jpg"))
        // Its pixels in longer rows: the width makes a step of 99 rows, of which no scale has whole blocks.
        let size = PixelSize(width: 21_000, height: 560)
        let wide = DecodedImage(
            size: size, layout: .rgb, pixels: Array(photograph.pixels.prefix(size.width * size.height * 3)))
        let bytes = try await Self.file(wide, Encode(.jpeg, quality: 70))
        for eighths in [2, 4, 8] {
            try expectEqualRows(of: bytes, eighths) { size in
                [
                    PixelRegion(x: 30, y: size.height - 20, size: 16),
                    PixelRegion(x: size.width - 21, y: size.height * 4 / 5, size: 20),
                ]
            }
        }
    }

    @Test(
        "What follows the crop decides how large the part is decoded, and it shows what cutting the whole would",
        arguments: ["photo-12mp-baseline-420.jpg", "tiff-deflate-strip.tif", "webp-lossy.webp", "webp-lossless.webp"])
    func reduced(_ name: String) async throws {
        let bytes = try Pictures.bytes("good/\(name)")
        let whole = try await SampleImage.decode(bytes)
        let region = PixelRegion(
            x: whole.width / 3 + 1, y: whole.height / 4 + 3,
            size: PixelSize(width: whole.width / 3, height: whole.height / 2))
        let side = min(200, whole.width / 8)
        for fit in [Resize.Fit.inside, .cover, .fill] {
            let resize = Resize(PixelSize(square: side), fit: fit)
            let (note, image) = try await load(bytes) {
                crop(region)
                resize
            }
            let expected = try await resize.apply(try await crop(region).apply(whole))
            #expect(note.hasPrefix("part") && note != "part \(region.size)")
            #expect(image.size == expected.size)
            #expect(image.difference(from: expected) < 1, "\(fit)")
        }
        // libwebp scales the part itself where speed counts.
        let fast = try await load(bytes, Decode(quality: .fast)) {
            crop(region)
            Resize(PixelSize(square: side))
        }.image
        let expected = try await Resize(PixelSize(square: side)).apply(try await crop(region).apply(whole))
        #expect(fast.size == expected.size)
        #expect(fast.difference(from: expected) < 4)
    }

    @Test("A crop by gravity or around a point goes by the picture's size, one by interest by its pixels")
    func kinds() async throws {
        let bytes = try Pictures.bytes("good/jpeg-greyscale.jpg")
        let whole = try await SampleImage.decode(bytes)
        for crop in [Crop(30, gravity: .southEast), Crop(30, focalPoint: (x: 0.9, y: 0.2))] {
            let (note, image) = try await load(bytes) { crop }
            #expect(note == "part 30×30")
            #expect(image.pixels == (try await crop.apply(whole)).pixels)
        }
        #expect(try await load(bytes) { Crop(30, by: .entropy) }.note == "whole 100×75")
    }

    @Test("The whole picture is decoded where another stage comes first, and where a part can't be decoded alone")
    func wholePictures() async throws {
        let gray = try Pictures.bytes("good/jpeg-greyscale.jpg")
        let turned = try await load(gray) {
            Flip(.horizontal)
            Crop(30)
        }
        #expect(turned.note == "whole 100×75" && turned.image.size == 30)
        let small = try await load(gray, maxPixelSize: 50) { Crop(30) }
        #expect(small.note == "whole 50×38" && small.image.size == 30)
        let moving = try await load(
            try Pictures.bytes("good/webp-animated.webp"), Decode(limits: ImageLimits(frames: 9))
        ) { Crop(8) }
        #expect(moving.note.hasPrefix("whole") && moving.image.isAnimated && moving.image.size == 8)
        for name in ["bmp-rgb24.bmp", "gif-animated.gif", "avif-photo.avif"] {
            #expect(try await load(try Pictures.bytes("good/\(name)")) { Crop(8) }.note.hasPrefix("whole"))
        }
    }

    @Test("A rectangle outside the picture is an error, as for pixels")
    func outside() async throws {
        let bytes = try Pictures.bytes("good/jpeg-greyscale.jpg")
        for crop in [Crop(x: 100, y: 0, width: 5, height: 5), Crop(x: .max, y: .min, width: .max, height: .max)] {
            let error = try await #require(throws: LoadError.self) { try await load(bytes) { crop } }
            #expect(error.code == .untransformable)
        }
    }

    @Test("The estimate of memory counts what is decoded; the limit of pixels counts the picture")
    func estimates() async throws {
        let bytes = try Pictures.bytes("good/photo-12mp-baseline-420.jpg")
        #expect(
            try await load(bytes, Decode(limits: ImageLimits(memory: 5_000_000))) { Crop(800) }.image.size == 800)
        let error = try await #require(throws: LoadError.self) {
            try await load(bytes, Decode(limits: ImageLimits(pixels: 11_000_000))) { Crop(10) }
        }
        #expect(error.code == .tooManyPixels)
    }

    @Test("A decode of a part stops when it is told")
    func cancellation() throws {
        let bytes = try Pictures.bytes("good/photo-12mp-baseline-420.jpg")
        let decoder = JPEGDecoder()
        var header = try decoder.header(of: bytes, cancellation: WorkCancellation())
        header.region = PixelRegion(x: 100, y: 2900, size: 10)
        let cancellation = WorkCancellation()
        cancellation.cancel()
        #expect(throws: CancellationError.self) {
            try decoder.decode(bytes, header: header, box: nil, options: DecodeOptions(), cancellation: cancellation)
        }
    }
}
