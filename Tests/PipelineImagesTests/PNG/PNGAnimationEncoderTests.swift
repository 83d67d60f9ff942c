import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineImages

@Suite("An animation is written as PNG with the rectangle of each frame that differs from the previous frame")
struct PNGAnimationEncoderTests {
    private func encode(
        _ image: DecodedImage, _ options: EncodeOptions.PNG = .init(),
        _ cancellation: WorkCancellation = WorkCancellation()
    ) throws -> [UInt8] {
        try PNGEncoder().encode(
            image, quality: 80, options: options, metadata: EmbeddedMetadata(), cancellation: cancellation)
    }

    private func decode(_ bytes: [UInt8]) async throws -> DecodedImage {
        try await SampleImage.decode(bytes, with: Decode(limits: ImageLimits(frames: 100)))
    }

    private func frames(of bytes: [UInt8]) throws -> [PNGFrame] {
        try PNGFile(bytes, WorkCancellation()).animation.frames
    }

    /// Frames of 40×30 pixels, each a function of the pixel's place.
    private func animation(
        _ count: Int, delay: Duration = .milliseconds(70), loops: Int = 0,
        _ color: (_ frame: Int, _ x: Int, _ y: Int) -> [UInt8]
    ) -> DecodedImage {
        let frames = (0..<count).map { frame in
            DecodedImage.Frame(pixels: (0..<1200).flatMap { color(frame, $0 % 40, $0 / 40) }, delay: delay)
        }
        let layout: PixelLayout = [1200: .gray, 3600: .rgb][frames[0].pixels.count] ?? .rgba
        return DecodedImage(size: PixelSize(width: 40, height: 30), layout: layout, frames: frames, loopCount: loops)
    }

    @Test(
        "Every pixel, delay and loop of other formats' animations is kept",
        arguments: ["gif-animated.gif", "gif-disposal-1231-transparent.gif", "webp-animated.webp"])
    func roundTrip(_ name: String) async throws {
        let image = try await decode(try Pictures.bytes("good/\(name)"))
        let again = try await decode(try encode(image))
        #expect(image.frames.count == 4)
        #expect(again.rgbaFrames == image.rgbaFrames)
        #expect(again.frames.map(\.delay) == image.frames.map(\.delay))
        #expect(again.loopCount == image.loopCount)
    }

    @Test("Every layout is kept with every filter", arguments: EncodeOptions.PNG.Filter.allCases)
    func layouts(_ filter: EncodeOptions.PNG.Filter) async throws {
        var generator = SeededGenerator(seed: 3)
        for channels in [1, 3, 4] {
            let image = animation(4) { frame, x, y in
                x < 10 * frame && y > frame
                    ? (0..<channels).map { _ in .random(in: 0...255, using: &generator) }
                    : (0..<channels).map { UInt8($0 * 50 + x + y) }
            }
            let again = try await decode(try encode(image, .init(filter: filter)))
            #expect(again.layout == image.layout)
            #expect(again.frames == image.frames)
        }
    }

    @Test("The rectangle is the smallest around the changes")
    func rectangles() throws {
        let changes: [[(Int, Int)]] = [
            [], [(7, 9)], [], [(0, 0)], [(39, 29)], [(3, 20), (30, 4)], [(12, 0), (5, 29), (20, 15)],
        ]
        var pixels = [UInt8](repeating: 0, count: 3600)
        var frames: [DecodedImage.Frame] = []
        for (number, places) in changes.enumerated() {
            // Only the middle channel differs.
            for (x, y) in places { pixels[3 * (40 * y + x) + 1] = UInt8(number) }
            frames.append(DecodedImage.Frame(pixels: pixels, delay: .milliseconds(10)))
        }
        let image = DecodedImage(size: PixelSize(width: 40, height: 30), layout: .rgb, frames: frames)
        let written = try self.frames(of: try encode(image))
        let rectangles = written.map { [$0.left, $0.top, $0.size.width, $0.size.height] }
        #expect(
            rectangles == [
                [0, 0, 40, 30], [7, 9, 1, 1], [0, 0, 1, 1], [0, 0, 1, 1], [39, 29, 1, 1], [3, 4, 28, 17],
                [5, 0, 16, 30],
            ])
    }

    @Test("Transparent pixels replace what was shown")
    func transparency() async throws {
        let image = animation(5) { frame, x, y in
            (5 * frame..<5 * frame + 8).contains(x) ? [UInt8(200 + frame), UInt8(x), UInt8(y), 99] : [0, 0, 0, 0]
        }
        #expect(try await decode(try encode(image)).frames == image.frames)
    }

    @Test("Delays are as fine as 16 bits allow, and the longest one stands for longer ones")
    func delays() async throws {
        for (delay, written) in [
            (0, 0), (1, 1), (65_535, 65_535), (65_536, 65_530), (655_359, 655_350), (655_360, 655_300),
            (6_553_600, 6_553_000), (65_535_000, 65_535_000), (90_000_000, 65_535_000),
        ] {
            let image = animation(2, delay: .milliseconds(delay)) { frame, _, _ in [UInt8(frame), 0, 0] }
            let again = try await decode(try encode(image))
            #expect(again.frames.map(\.delay) == [written, written].map { .milliseconds($0) })
        }
    }

    @Test("Loops are kept", arguments: [0, 1, 2, 65_536, 0x7fff_ffff])
    func loops(_ count: Int) async throws {
        let image = animation(2, loops: count) { frame, _, _ in [UInt8(frame), 0, 0] }
        #expect(try await decode(try encode(image)).loopCount == count)
    }

    @Test("With a palette all frames share it, and few enough colours are exact")
    func palette() async throws {
        let colors: [[UInt8]] = [[0, 0, 0, 0], [255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 128]]
        let few = animation(4) { frame, x, y in colors[(x / 10 + y / 15 + frame) % 4] }
        let bytes = try encode(few, .init(colors: 4))
        #expect(try PNGFile(bytes, WorkCancellation()).depth == 2)
        #expect(try await decode(bytes).frames == few.frames)
        #expect(bytes.count < (try encode(few)).count)

        let many = animation(4) { frame, x, y in [UInt8(6 * x), UInt8(8 * y), UInt8(60 * frame)] }
        let again = try await decode(try encode(many, .init(colors: 16)))
        #expect(Set(again.rgbaFrames.joined()).count <= 16)
        #expect(again.frames.map(\.delay) == many.frames.map(\.delay))
    }

    @Test("With a palette, still pixels don't flicker while others change")
    func stillPixels() async throws {
        let image = animation(4) { frame, x, y in
            y < 10 ? [UInt8(60 * frame), UInt8(x), 90] : [UInt8(6 * x), UInt8(8 * y), 40]
        }
        let again = try await decode(try encode(image, .init(colors: 8))).rgbaFrames
        for frame in again { #expect(frame[400...] == again[0][400...]) }
        #expect(again[1][..<400] != again[0][..<400])
    }

    @Test("Metadata stands before the pixels, and programs without animations show the first frame")
    func firstFrame() async throws {
        let image = animation(3) { frame, x, y in [UInt8(frame), UInt8(x), UInt8(y)] }
        let xmp = Array("<x:xmpmeta/>".utf8)
        let bytes = try PNGEncoder().encode(
            image, quality: 80, options: .init(), metadata: EmbeddedMetadata(xmp: xmp),
            cancellation: WorkCancellation())
        #expect(try PNGMetadata.read(bytes, WorkCancellation()).xmp == xmp)
        let still = try await SampleImage.decode(bytes, with: Decode(codecs: [.png.decoding(with: VipsDecoder.png)]))
        #expect(still.pixels == image.pixels)
    }

    @Test("An animation stops at whichever look finds it cancelled", arguments: [nil, 16])
    func cancelled(_ colors: Int?) throws {
        let image = animation(4) { frame, x, y in [UInt8(frame), UInt8(x), UInt8(y), 255] }
        func looks(patience: Int) throws -> (looks: Int, isStopped: Bool) {
            try ImpatientClock.looks(patience: patience) { _ = try encode(image, .init(colors: colors), $0) }
        }
        let all = try looks(patience: .max).looks
        #expect(all > 10)
        for patience in 1..<all {
            let (looks, isStopped) = try looks(patience: patience)
            #expect(isStopped)
            // The one that finds it out, and one that says why.
            #expect(looks <= patience + 2)
        }
    }
}
