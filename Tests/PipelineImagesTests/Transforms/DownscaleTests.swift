import Pipeline
import PipelineImages
import TestFixtures
import Testing

@Suite("Downscale makes pixels fit a box exactly")
struct DownscaleTests {
    private func gradient(_ width: Int, _ height: Int, _ layout: PixelLayout = .rgb) -> DecodedImage {
        let pixels = (0..<width * height).flatMap { index in
            [UInt8](repeating: UInt8(index % width * 255 / max(1, width - 1)), count: layout.channelCount)
        }
        return DecodedImage(size: PixelSize(width: width, height: height), layout: layout, pixels: pixels)
    }

    private func downscaled(_ image: DecodedImage, to box: PixelSize?) async throws -> DecodedImage {
        try #require(try await SampleImage.process(image, maxPixelSize: box) { Downscale() }.image)
    }

    @Test(
        "Decode and Downscale together give the exact size, whatever the decoder left",
        arguments: [
            ("photo-12mp-baseline-420.jpg", 300, 300, 221), ("photo-12mp-baseline-420.jpg", 1000, 1000, 738),
            ("exif-orientation-6.jpg", 30, 15, 30), ("webp-lossy-alpha.webp", 100, 100, 50),
            ("png-icc-rec2020.png", 33, 33, 17), ("avif-alpha-irot.avif", 64, 32, 64),
            ("heic-128.heif", 50, 50, 50), ("tiff-jpeg-tiled.tif", 101, 101, 74), ("gif-animated.gif", 20, 20, 15),
        ])
    func exact(_ name: String, _ box: Int, _ width: Int, _ height: Int) async throws {
        let response = try await SampleImage.load(
            try Pictures.bytes("good/\(name)"), maxPixelSize: PixelSize(square: box)
        ) {
            Decode()
            Downscale()
        }
        #expect(response.size == PixelSize(width: width, height: height))
    }

    @Test("The thumbnail is the photograph: small, and like its full decode scaled in one step")
    func faithful() async throws {
        let bytes = try Pictures.bytes("good/photo-12mp-baseline-420.jpg")
        let quick = try await SampleImage.load(bytes, maxPixelSize: 300) {
            Decode()
            Downscale()
        }
        let full = try await downscaled(try await SampleImage.decode(bytes), to: 300)
        let image = try #require(quick.image)
        #expect(image.nativeSize == PixelSize(width: 4032, height: 2976))
        #expect(image.difference(from: full) < 1)
    }

    @Test("Nothing is ever enlarged, and what fits is left alone")
    func neverEnlarged() async throws {
        let image = gradient(40, 30)
        for box in [PixelSize(square: 41), PixelSize(width: 40, height: 30), nil] {
            let response = try await SampleImage.process(image, maxPixelSize: box) { Downscale() }
            #expect(response.image?.pixels == image.pixels)
            #expect(response.trace.entries.last?.outcome == .skipped)
        }
    }

    @Test(
        "The aspect is kept to the nearest pixel, and no side vanishes",
        arguments: [
            (640, 480, PixelSize(square: 100), PixelSize(width: 100, height: 75)),
            (480, 640, PixelSize(square: 100), PixelSize(width: 75, height: 100)),
            (640, 480, PixelSize(width: 640, height: 48), PixelSize(width: 64, height: 48)),
            (1000, 1, PixelSize(square: 10), PixelSize(width: 10, height: 1)),
            (1, 1000, PixelSize(square: 10), PixelSize(width: 1, height: 10)),
            (1000, 2, PixelSize(square: 1), PixelSize(width: 1, height: 1)),
            (3, 3, PixelSize(square: 2), PixelSize(width: 2, height: 2)),
        ])
    func aspect(_ width: Int, _ height: Int, _ box: PixelSize, _ expected: PixelSize) async throws {
        for layout in [PixelLayout.gray, .rgb, .rgba] {
            #expect(try await downscaled(gradient(width, height, layout), to: box).size == expected)
        }
    }

    @Test("A crop before it keeps the crop's aspect, not the source's")
    func cropped() async throws {
        let crop = DecodedImage(
            size: PixelSize(width: 200, height: 100), layout: .gray, pixels: [UInt8](repeating: 9, count: 20000),
            nativeSize: PixelSize(width: 400, height: 400))
        #expect(try await downscaled(crop, to: 50).size == PixelSize(width: 50, height: 25))
    }

    @Test("A constant picture stays constant", arguments: [PixelLayout.gray, .rgb, .rgba])
    func constant(_ layout: PixelLayout) async throws {
        let pixel: [UInt8] = Array([201, 77, 13, 120].prefix(layout.channelCount))
        let image = DecodedImage(
            size: PixelSize(width: 100, height: 70), layout: layout,
            pixels: Array((0..<7000).map { _ in pixel }.joined()))
        let small = try await downscaled(image, to: 33)
        for index in small.pixels.indices {
            #expect(abs(Int(small.pixels[index]) - Int(pixel[index % layout.channelCount])) <= 1)
        }
    }

    @Test("An alpha edge has no halo: the colour of what can't be seen never shows")
    func halo() async throws {
        // A green disc, opaque, on red that is fully transparent.
        let side = 256
        let disc = (0..<side * side).flatMap { index -> [UInt8] in
            let (x, y) = (index % side - side / 2, index / side - side / 2)
            return x * x + y * y < 100 * 100 ? [0, 255, 0, 255] : [255, 0, 0, 0]
        }
        let image = DecodedImage(size: PixelSize(square: side), layout: .rgba, pixels: disc)
        let png = try #require(try await SampleImage.process(image) { Encode(.png) }.encoded)
        for box in [200, 100, 31] {
            // Once by the kernel alone, once with the decoder's own reduction before it.
            let direct = try await downscaled(image, to: PixelSize(square: box))
            let decoded = try await SampleImage.load(png.bytes, maxPixelSize: PixelSize(square: box)) {
                Decode()
                Downscale()
            }
            for small in [direct, try #require(decoded.image)] {
                var edge = 0
                for start in stride(from: 0, to: small.pixels.count, by: 4) where small.pixels[start + 3] > 8 {
                    #expect(small.pixels[start] <= 2, "red shines through")
                    #expect(small.pixels[start + 1] >= 253, "green is darkened")
                    if small.pixels[start + 3] < 250 { edge += 1 }
                }
                #expect(edge > box / 4, "the edge is smooth")
            }
        }
    }

    @Test("Every frame of an animation is scaled and keeps its delay")
    func animation() async throws {
        for name in ["gif-animated.gif", "webp-animated.webp"] {
            let response = try await SampleImage.load(
                try Pictures.bytes("good/\(name)"), maxPixelSize: 16
            ) {
                Decode(limits: ImageLimits(frames: 10))
                Downscale()
            }
            let image = try #require(response.image)
            #expect(image.size == PixelSize(width: 16, height: 12))
            #expect(image.frames.map(\.delay) == [100, 200, 300, 400].map { .milliseconds($0) })
            #expect(Set(image.frames).count == 4)
            #expect(image.loopCount == 3)
        }
    }

    @Test("A cancelled Downscale ends with CancellationError")
    func cancelled() async throws {
        let image = gradient(400, 300)
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await downscaled(image, to: 10)
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
