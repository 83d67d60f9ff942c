import LibC
import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineImages

@Suite("What lies over or behind a picture has no gain")
struct GainMapCoveringTests {
    private static let size = PixelSize(square: 40)
    /// 0.3 of 3 stops, to the power of gamma.
    private static let bare = UInt8((255 * pow(0.1, 1.25)).rounded())

    /// A picture whose map of half its sides has one level.
    private static func image(_ pixels: [UInt8]? = nil, _ layout: PixelLayout = .rgb) throws -> DecodedImage {
        var image = DecodedImage(
            size: size, layout: layout,
            pixels: pixels ?? [UInt8](repeating: 90, count: size.bytes(layout.bytesPerPixel)))
        image.gainMap = GainMap(
            [UInt8](repeating: 200, count: 400), size: PixelSize(square: 20), channelCount: 1,
            try #require(GainMapFollowingTests.parameters), stored: PixelSize(square: 20), of: size)
        return image
    }

    private func map(_ image: DecodedImage, @ChainBuilder _ stages: () -> Chain) async throws -> GainMap {
        try #require(try await SampleImage.process(image, stages).image?.gainMap)
    }

    private func level(_ map: GainMap, _ x: Int, _ y: Int) -> UInt8 { map.pixels[y * map.size.width + x] }

    @Test(
        "Turned by any angle, a map stays over its picture, and the corners have no gain", arguments: [25.0, -100, 181])
    func turned(_ degrees: Double) async throws {
        let (size, mapSize) = (PixelSize(width: 400, height: 300), PixelSize(width: 150, height: 112))
        var image = DecodedImage(size: size, layout: .gray, pixels: GainMapFollowingTests.levels(size))
        image.gainMap = GainMap(
            GainMapFollowingTests.levels(mapSize), size: mapSize, channelCount: 1,
            try #require(GainMapFollowingTests.parameters), stored: mapSize, of: size)
        let result = try #require(
            try await SampleImage.process(image) {
                Crop(x: 31, y: 17, width: 300, height: 200)
                Rotate(degrees: degrees)
            }.image)
        let map = try #require(result.gainMap)
        for corner in [0, map.size.width - 1, map.pixels.count - 1] { #expect(map.pixels[corner] == Self.bare) }
        let inner = PixelSize(width: 140, height: 100)
        let middle = try await Crop(inner).apply(result)
        let fitted = try #require(middle.gainMap).fitted(to: inner, WorkCancellation())
        var whole = middle
        whole.gainMap = fitted
        #expect(try GainMapFollowingTests.difference(whole) < 2)
        #expect(Rotate(degrees: degrees).keepsGainMap)
    }

    @Test("Under an overlay there is no gain, and elsewhere the map stays as it was")
    func overlay() async throws {
        let white = DecodedImage(
            size: PixelSize(square: 10), layout: .rgb, pixels: [UInt8](repeating: 255, count: 300))
        let covered = try await map(try Self.image()) { Composite(white) }
        #expect(level(covered, 19, 19) == Self.bare && level(covered, 15, 15) == Self.bare)
        #expect(level(covered, 14, 19) == 200 && level(covered, 19, 14) == 200)
        let half = try await map(try Self.image()) { Composite(white, opacity: 0.5) }
        #expect(abs(Int(level(half, 19, 19)) - (200 + Int(Self.bare)) / 2) <= 1)
        let tiled = try await map(try Self.image()) { Composite(white, gravity: .northWest, tiled: true, spacing: 10) }
        #expect(level(tiled, 0, 0) == Self.bare && level(tiled, 10, 10) == Self.bare && level(tiled, 5, 5) == 200)
        // Of a picture that was cut, only a part of the map lies under it.
        let part = try await map(try Self.image()) {
            Crop(x: 20, y: 20, width: 20, height: 20)
            Composite(white, gravity: .northWest)
        }
        #expect(level(part, 10, 10) == Self.bare && level(part, 14, 14) == Self.bare && level(part, 15, 15) == 200)
        #expect(try part.fitted(to: PixelSize(square: 20), WorkCancellation()).pixels.contains(Self.bare))
        let outside = try await map(try Self.image()) { Composite(white, offset: (100, 0)) }
        #expect(outside.pixels.allSatisfy { $0 == 200 })
    }

    /// A picture whose left half is transparent.
    private static var halved: DecodedImage {
        get throws {
            try image((0..<size.bytes(1)).flatMap { [90, 90, 90, $0 % 40 < 20 ? 0 : 255] }, .rgba)
        }
    }

    @Test("A background has no gain, whether a stage or the encoder puts it behind the picture")
    func background() async throws {
        let flattened = try await map(try Self.halved) { Flatten(.white) }
        #expect(level(flattened, 9, 5) == Self.bare && level(flattened, 10, 5) == 200)
        let made = try await SampleImage.process(try Self.halved) { Encode(.jpeg, quality: 100) }
        let again = try await SampleImage.decode(try #require(made.encoded?.bytes), with: Decode(gainMap: .keep))
        let map = try #require(again.gainMap)
        #expect(abs(Int(level(map, 2, 10)) - Int(Self.bare)) < 8 && abs(Int(level(map, 17, 10)) - 200) < 8)
        let opaque = try await self.map(try Self.image()) { Flatten(.white) }
        #expect(opaque == (try Self.image().gainMap))
    }

    @Test("Transparent corners leave the map as it was, for formats with alpha")
    func corners() async throws {
        let before = try Self.image().gainMap
        #expect(try await map(try Self.image()) { RoundCorners(radius: 9) } == before)
        #expect(try await map(try Self.image()) { CropCircle() } == before)
        let made = try await SampleImage.process(try Self.image()) {
            CropCircle()
            Encode(.avif, quality: 100)
        }
        let again = try await SampleImage.decode(try #require(made.encoded?.bytes), with: Decode(gainMap: .keep))
        let map = try #require(again.gainMap)
        #expect(again.layout.hasAlpha && abs(Int(level(map, 0, 0)) - 200) < 8)
    }
}
