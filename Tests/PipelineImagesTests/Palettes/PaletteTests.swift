import Foundation
import Pipeline
import PipelineImages
import PipelineTesting
import TestFixtures
import Testing

@Suite("A palette stands for a picture's colours, and keeps them if they fit in")
struct PaletteTests {
    private func png(
        _ image: DecodedImage, colors: Int = 256, dither: Double = 1,
        _ change: (inout EncodeOptions) -> Void = { _ in }
    ) async throws -> [UInt8] {
        var options = EncodeOptions()
        options.png.colors = colors
        options.png.dither = dither
        change(&options)
        return try #require(
            try await SampleImage.process(image) { Encode(.png, options: options) }.encoded
        ).bytes
    }

    /// This many colours in no order.
    private func mosaic(_ colors: Int, of size: PixelSize, hasAlpha: Bool) -> DecodedImage {
        var generator = SeededGenerator(seed: UInt64(colors))
        var palette: Set<[UInt8]> = []
        while palette.count < colors {
            let color = (0..<3).map { _ in UInt8.random(in: 0...255, using: &generator) }
            palette.insert(color + (hasAlpha ? [UInt8.random(in: 1...255, using: &generator)] : []))
        }
        let sorted = palette.sorted { $0.lexicographicallyPrecedes($1) }
        // Each occurs.
        let pixels = (0..<size.width * size.height).flatMap {
            sorted[$0 < colors ? $0 : Int.random(in: 0..<colors, using: &generator)]
        }
        return DecodedImage(size: size, layout: hasAlpha ? .rgba : .rgb, pixels: pixels)
    }

    /// The mean square error as decibels.
    private func quality(_ image: DecodedImage, _ other: DecodedImage) -> Double {
        let sum = zip(image.pixels, other.pixels).reduce(0) { sum, pair in
            let difference = Int(pair.0) - Int(pair.1)
            return sum + difference * difference
        }
        return 10 * log10(Double(255 * 255 * image.pixels.count) / Double(max(1, sum)))
    }

    @Test(
        "Colours that fit in are kept exactly, and indices have no more bits than they need",
        arguments: [1, 2, 3, 4, 5, 16, 17, 255, 256], [false, true])
    func exact(_ colors: Int, _ hasAlpha: Bool) async throws {
        let image = mosaic(colors, of: PixelSize(width: 37, height: 29), hasAlpha: hasAlpha)
        for dither in [0.0, 1] {
            let bytes = try await png(image, dither: dither)
            #expect(try await SampleImage.decode(bytes).pixels == image.pixels)
            #expect(bytes[24] == (colors <= 2 ? 1 : colors <= 4 ? 2 : colors <= 16 ? 4 : 8))
            #expect(bytes[25] == 3)
        }
    }

    @Test("More colours may be asked for than there are")
    func plenty() async throws {
        let grays = DecodedImage(size: 16, layout: .gray, pixels: (0..<256).map { UInt8($0 % 3 * 100) })
        let again = try await SampleImage.decode(try await png(grays))
        #expect(again.pixels == grays.pixels.flatMap { [$0, $0, $0] })
    }

    @Test(
        "What is clear and what is opaque stay so among what is neither, and the error is small", arguments: [8, 256])
    func alpha(_ colors: Int) async throws {
        let pixels = (0..<128 * 128).flatMap { index -> [UInt8] in
            let (x, y) = (index % 128, index / 128)
            let alpha = max(0, min(255, 6 * (x - 40)))
            return alpha == 0 ? [0, 0, 0, 0] : [UInt8(y * 2), 90, UInt8(255 - x), UInt8(alpha)]
        }
        let image = DecodedImage(size: 128, layout: .rgba, pixels: pixels)
        let again = try await SampleImage.decode(try await png(image, colors: colors))
        var error = 0
        for offset in stride(from: 0, to: pixels.count, by: 4) {
            let (old, new) = (image.pixels[offset..<offset + 4], again.pixels[offset..<offset + 4])
            if old.last == 0 { #expect(new.elementsEqual([0, 0, 0, 0])) }
            if old.last == 255 { #expect(new.last == 255) }
            error += zip(old, new).reduce(0) {
                $0 + abs(Int($1.0) * Int(old.last ?? 0) - Int($1.1) * Int(new.last ?? 0))
            }
        }
        #expect(Double(error) / Double(255 * pixels.count) < (colors == 256 ? 4 : 25))
    }

    @Test("A picture of which nothing shows is one clear colour")
    func allClear() async throws {
        let image = DecodedImage(size: 5, layout: .rgba, pixels: (0..<25).flatMap { [UInt8($0), 1, 2, 0] })
        let bytes = try await png(image)
        #expect(try await SampleImage.decode(bytes).pixels == [UInt8](repeating: 0, count: 100))
        #expect(bytes[24] == 1)
    }

    @Test("Pictures of one pixel, one row and one column", arguments: [(1, 1), (70_001, 1), (1, 3001), (9, 1), (1, 9)])
    func narrow(_ width: Int, _ height: Int) async throws {
        let size = PixelSize(width: width, height: height)
        let pixels = (0..<width * height).flatMap { [UInt8(truncatingIfNeeded: $0 / 500), 7, 200] as [UInt8] }
        let image = DecodedImage(size: size, layout: .rgb, pixels: pixels)
        for dither in [0.0, 1] {
            #expect(try await SampleImage.decode(try await png(image, dither: dither)).pixels == pixels)
        }
        let few = try await SampleImage.decode(try await png(image, colors: 2))
        #expect(few.size == size)
    }

    @Test(
        "A photograph is as good with a palette as it was with libimagequant's",
        arguments: [(256, 0.0, 36.1), (256, 1, 35.9), (64, 1, 30.6), (16, 0, 25.2), (16, 1, 24.5)])
    func photograph(_ colors: Int, _ dither: Double, _ decibels: Double) async throws {
        let image = try await SampleImage.decode(try Pictures.bytes("good/expected/bricks-color.png"))
        // PNG's palettes have no 64 colours.
        var options = EncodeOptions()
        options.gif = .init(colors: colors, dither: dither)
        let bytes = try #require(
            try await SampleImage.process(image) { Encode(.gif, options: options) }.encoded
        ).bytes
        #expect(quality(image, try await SampleImage.decode(bytes)) > decibels)
    }

    @Test("Dithering makes up for the error near by; without it the file is smaller")
    func dithering() async throws {
        var pixels: [UInt8] = []
        for index in 0..<128 * 128 { pixels += [UInt8(index % 128 / 2), UInt8(index / 256), 128] }
        let image = DecodedImage(size: 128, layout: .rgb, pixels: pixels)
        func blocks(_ image: DecodedImage) -> [Int] {
            (0..<256).map { block -> Int in
                var sum = 0
                for index in 0..<64 {
                    let x = block % 16 * 8 + index % 8
                    let y = block / 16 * 8 + index / 8
                    sum += image.pixel(x, y)[..<3].reduce(0, +)
                }
                return sum
            }
        }
        func error(_ dither: Double) async throws -> (mean: Int, bytes: Int) {
            let bytes = try await png(image, colors: 16, dither: dither)
            let again = try await SampleImage.decode(bytes)
            return (zip(blocks(image), blocks(again)).reduce(0) { $0 + abs($1.0 - $1.1) }, bytes.count)
        }
        let (plain, half, whole) = (try await error(0), try await error(0.5), try await error(1))
        #expect(5 * whole.mean < 3 * plain.mean)
        #expect(half.mean < plain.mean)
        #expect(plain.bytes < whole.bytes)
    }

    @Test("Metadata stands before the palette, and the palette before the pixels")
    func chunks() async throws {
        var options = EncodeOptions(metadata: .all)
        options.png.colors = 16
        let response = try await SampleImage.load(try Pictures.bytes("good/jpeg-exif-xmp-icc.jpg")) {
            Decode()
            Encode(.png, options: options)
        }
        let bytes = try #require(response.encoded).bytes
        var (names, offset) = ([String](), 8)
        while offset + 8 <= bytes.count {
            names.append(String(decoding: bytes[offset + 4..<offset + 8], as: UTF8.self))
            offset += 12 + bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
        }
        #expect(names.first == "IHDR")
        let profile = try #require(names.firstIndex(of: "iCCP"))
        let palette = try #require(names.firstIndex(of: "PLTE"))
        let pixels = try #require(names.firstIndex(of: "IDAT"))
        #expect(profile < palette && palette < pixels)
        #expect(names.contains("eXIf"))
    }
}
