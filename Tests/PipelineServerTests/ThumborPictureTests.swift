import HTTPTypes
import Pipeline
import PipelineImages
import Stages
import Testing

@testable import PipelineServer

@Suite("The pictures of thumbor's paths")
struct ThumborPictureTests {
    /// Makes the picture of a path from pixels, without a codec.
    private func picture(_ path: String, _ image: DecodedImage) async throws -> DecodedImage {
        var result = image
        for stage in try ThumborDialect().picture("\(path)/a.png"[...]).stages {
            let transform = try #require(stage as? any PixelTransform)
            result = try await transform.apply(result)
        }
        return result
    }

    /// A picture whose red is the column and whose green is the row.
    private func columns(_ width: Int, _ height: Int) -> DecodedImage {
        var pixels: [UInt8] = []
        for y in 0..<height { for x in 0..<width { pixels += [UInt8(x), UInt8(y), 7] } }
        return DecodedImage(size: PixelSize(width: width, height: height), layout: .rgb, pixels: pixels)
    }

    private func pixel(_ image: DecodedImage, _ x: Int, _ y: Int) throws -> [Int] {
        let channels = image.layout.channelCount
        return try image.withPixels { pixels in
            (0..<channels).map { Int(pixels[(y * image.width + x) * channels + $0]) }
        }
    }

    @Test("A crop in pixels of the source comes before everything else, and one outside of it cuts nothing")
    func crop() async throws {
        let part = try await picture("10x5:30x25", columns(40, 30))
        #expect(part.size == PixelSize(square: 20))
        #expect(try pixel(part, 0, 0) == [10, 5, 7])
        let clipped = try await picture("30x20:900x900", columns(40, 30))
        #expect(clipped.size == PixelSize(square: 10))
        #expect(try await picture("50x50:60x60", columns(40, 30)).size == PixelSize(width: 40, height: 30))
    }

    @Test("Negative sides mirror")
    func mirrored() async throws {
        #expect(try pixel(try await picture("-0x0", columns(40, 30)), 0, 0) == [39, 0, 7])
        #expect(try pixel(try await picture("0x-0", columns(40, 30)), 0, 0) == [0, 29, 7])
    }

    @Test("rotate turns counterclockwise")
    func rotated() async throws {
        let turned = try await picture("filters:rotate(90)", columns(40, 30))
        #expect(turned.size == PixelSize(width: 30, height: 40))
        #expect(try pixel(turned, 0, 0) == [39, 0, 7])
    }

    @Test(
        "Only the size that is asked for is kept, from the side of the alignment",
        arguments: [("left", 0), ("right", 20)])
    func aligned(word: String, first: Int) async throws {
        let part = try await picture("20x30/\(word)", columns(40, 30))
        #expect(part.size == PixelSize(width: 20, height: 30))
        #expect(try pixel(part, 0, 0) == [first, 0, 7])
    }

    @Test("fill pads a picture that fit-in leaves smaller, and cuts one that a turn made larger")
    func filled() async throws {
        let padded = try await picture("fit-in/50x40/filters:fill(ff0000)", columns(40, 30))
        #expect(padded.size == PixelSize(width: 50, height: 40))
        #expect(try pixel(padded, 4, 20) == [255, 0, 0] && pixel(padded, 5, 5) == [0, 0, 7])
        let cut = try await picture("40x30/filters:rotate(90):fill(00ff00)", columns(40, 30))
        #expect(cut.size == PixelSize(width: 40, height: 30))
        #expect(try pixel(cut, 0, 0) == [0, 255, 0] && pixel(cut, 5, 0)[0] == 34)
        let clear = try await picture("fit-in/50x40/filters:fill(transparent)", columns(40, 30))
        #expect(try pixel(clear, 0, 0) == [0, 0, 0, 0])
    }

    @Test("upscale enlarges what fit-in leaves, and proportion reduces it")
    func resized() async throws {
        #expect(try await picture("fit-in/100x100", columns(40, 30)).size == PixelSize(width: 40, height: 30))
        #expect(
            try await picture("fit-in/100x100/filters:upscale()", columns(40, 30)).size
                == PixelSize(width: 100, height: 75))
        #expect(
            try await picture("100x0/filters:proportion(0.33)", columns(40, 30)).size
                == PixelSize(width: 33, height: 24))
        let both = try await picture("40x30/filters:proportion(0.5):upscale()", columns(40, 30))
        #expect(both.size == PixelSize(width: 40, height: 30))
    }

    @Test(
        "Colours by thumbor's arithmetic",
        arguments: [
            ("brightness(10)", [225, 125, 35]), ("brightness(-50)", [73, 0, 0]), ("rgb(10,0,-1)", [225, 100, 8]),
            ("contrast(20)", [231, 88, 0]), ("contrast(-50)", [146, 121, 99]), ("grayscale()", [120, 120, 120]),
            ("saturation(0)", [133, 133, 133]), ("saturation(2)", [255, 66, 0]),
        ])
    func colours(filter: String, expected: [Int]) async throws {
        let image = DecodedImage(size: PixelSize(square: 1), layout: .rgb, pixels: [200, 100, 10])
        #expect(try pixel(try await picture("filters:\(filter)", image), 0, 0) == expected)
        let clear = DecodedImage(size: PixelSize(square: 1), layout: .rgba, pixels: [200, 100, 10, 40])
        #expect(try pixel(try await picture("filters:\(filter)", clear), 0, 0) == expected + [40])
    }

    @Test("Corners get a colour, or become transparent, and the middle stays")
    func corners() async throws {
        let coloured = try await picture("filters:round_corner(10,0,0,255)", columns(40, 30))
        #expect(try pixel(coloured, 0, 0) == [0, 0, 255] && pixel(coloured, 20, 0) == [20, 0, 7])
        let clear = try await picture("filters:round_corner(10,0,0,255,true)", columns(40, 30))
        #expect(try pixel(clear, 39, 29)[3] == 0 && pixel(clear, 20, 15) == [20, 15, 7, 255])
        let flat = try await picture("filters:round_corner(18|4,0,0,255)", columns(40, 30))
        #expect(try pixel(flat, 1, 1)[2] == 255 && pixel(flat, 1, 5) == [1, 5, 7])
    }

    @Test("trim takes the colour of a corner off, and a crop still counts in pixels of the source")
    func trimmed() async throws {
        var pixels = [UInt8](repeating: 9, count: 20 * 10)
        for y in 3..<7 { for x in 4..<15 { pixels[y * 20 + x] = UInt8(100 + x) } }
        let image = DecodedImage(size: PixelSize(width: 20, height: 10), layout: .gray, pixels: pixels)
        #expect(try await picture("trim", image).size == PixelSize(width: 11, height: 4))
        #expect(try await picture("trim:bottom-right:60", image).size == PixelSize(width: 11, height: 4))
        // The distance of greys is that of three equal channels.
        #expect(try await picture("trim:top-left:172", image).size == PixelSize(width: 6, height: 4))
        #expect(try await picture("trim:top-left:300", image).size == image.size)
        let part = try await picture("trim/6x4:9x6", image)
        #expect(part.size == PixelSize(width: 3, height: 2))
        #expect(try pixel(part, 0, 0) == [106])
    }

    @Test("Filters work in their order")
    func order() async throws {
        let image = DecodedImage(size: PixelSize(square: 1), layout: .rgb, pixels: [200, 200, 200])
        #expect(try pixel(try await picture("filters:brightness(50):brightness(-50)", image), 0, 0)[0] == 128)
        #expect(try pixel(try await picture("filters:brightness(-50):brightness(50)", image), 0, 0)[0] == 200)
    }

    @Test("A part is decoded alone, no larger than needed, and only what has every pixel is cut")
    func needs() throws {
        func transform(_ path: String) throws -> ThumborTransform {
            try #require(try ThumborDialect().picture("\(path)/a.jpg"[...]).stages.last as? ThumborTransform)
        }
        let size = PixelSize(width: 4000, height: 2000)
        let cut = try transform("300x300")
        let region = cut.neededRegion(of: size, later: PixelNeeds())
        #expect(region?.region == PixelRegion(x: 1000, y: 0, size: PixelSize(square: 2000)))
        #expect(region?.box == PixelSize(square: 300))
        #expect(cut.neededBox(of: size, later: PixelNeeds()) == nil)
        let fitted = try transform("fit-in/300x300")
        #expect(fitted.neededRegion(of: size, later: PixelNeeds()) == nil)
        #expect(fitted.neededBox(of: size, later: PixelNeeds()) == PixelSize(width: 300, height: 150))
        #expect(try transform("0x0").neededBox(of: size, later: PixelNeeds()) == nil)
    }
}
