import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineImages

@Suite("GIF is written frame by frame, each with what differs from the one before")
struct GIFEncoderTests {
    private func encode(
        _ image: DecodedImage, _ cancellation: WorkCancellation = WorkCancellation(),
        _ options: EncodeOptions.GIF = .init()
    ) throws -> [UInt8] {
        try GIFEncoder().encode(
            image, quality: 80, options: options, metadata: EmbeddedMetadata(), cancellation: cancellation)
    }

    private func decode(_ bytes: [UInt8]) async throws -> DecodedImage {
        try await SampleImage.decode(bytes, with: Decode(limits: ImageLimits(frames: 100)))
    }

    private func still(_ size: PixelSize, _ color: (Int) -> [UInt8]) -> DecodedImage {
        let pixels = (0..<size.width * size.height).flatMap(color)
        let channels = pixels.count / (size.width * size.height)
        return DecodedImage(size: size, layout: channels == 4 ? .rgba : channels == 3 ? .rgb : .gray, pixels: pixels)
    }

    /// Frames of 40×30 pixels, each a function of the pixel's place.
    private func animation(
        _ count: Int, delay: Duration = .milliseconds(70), loops: Int = 0,
        _ color: (_ frame: Int, _ x: Int, _ y: Int) -> [UInt8]
    ) -> DecodedImage {
        let frames = (0..<count).map { frame in
            DecodedImage.Frame(
                pixels: (0..<1200).flatMap { color(frame, $0 % 40, $0 / 40) }, delay: delay)
        }
        return DecodedImage(
            size: PixelSize(width: 40, height: 30), layout: frames[0].pixels.count == 4800 ? .rgba : .rgb,
            frames: frames, loopCount: loops)
    }

    @Test(
        "Pixels of any number of colours are kept, whatever fills the table of codes",
        arguments: [1, 2, 3, 4, 5, 8, 9, 16, 17, 128, 255, 256])
    func codes(_ colors: Int) async throws {
        var generator = SeededGenerator(seed: UInt64(colors))
        func color(_ index: Int) -> [UInt8] { [UInt8(index), UInt8(255 - index), UInt8(index * 37 % 256)] }
        for size in [
            PixelSize(width: 211, height: 173), PixelSize(width: 1, height: 1), PixelSize(width: 3, height: 2),
        ] {
            let noise = still(size) { _ in color(Int.random(in: 0..<colors, using: &generator)) }
            #expect(try await decode(try encode(noise)).pixels == noise.pixels)
            let runs = still(size) { color($0 * $0 / 900 % colors) }
            #expect(try await decode(try encode(runs)).pixels == runs.pixels)
        }
        let plain = still(PixelSize(width: 1100, height: 1000)) { _ in color(colors - 1) }
        let bytes = try encode(plain)
        #expect(try await decode(bytes).pixels == plain.pixels)
        #expect(bytes.count < 4000)
    }

    @Test("The table of colours has the index of what is clear, also where its colours fill a smaller one")
    func clearIndexIsInTheTable() throws {
        let colors: [[UInt8]] = [[0, 0, 0, 255], [255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255]]
        let logo = still(PixelSize(width: 8, height: 8)) { $0 < 8 ? [0, 0, 0, 0] : colors[$0 % 4] }
        let moving = animation(3) { frame, x, _ in colors[(x / 10 + frame) % 4] }
        for image in [logo, moving] {
            try encode(image).withUnsafeBufferPointer { bytes in
                let file = try GIFFile(bytes, limit: 10, cancellation: WorkCancellation())
                for frame in file.frames {
                    guard let transparent = frame.transparent else { continue }
                    #expect(transparent < (frame.palette ?? file.palette).count / 3)
                }
                #expect(file.frames.last?.transparent == 4)
            }
        }
    }

    @Test("As wide and as high as GIF can be", arguments: [(65_535, 1), (1, 65_535), (65_535, 2)])
    func limits(_ width: Int, _ height: Int) async throws {
        let image = still(PixelSize(width: width, height: height)) { [UInt8($0 / 300 % 256)] }
        let again = try await decode(try encode(image))
        #expect(again.size == image.size)
        #expect(again.pixels == image.pixels.flatMap { [$0, $0, $0] })
    }

    @Test("From half on alpha is opaque, and below it clear")
    func threshold() async throws {
        let image = still(PixelSize(width: 256, height: 2)) { [10, 20, 30, UInt8($0 % 256)] }
        let again = try await decode(try encode(image))
        for x in 0..<256 { #expect(again.pixel(x, 1) == (x < 128 ? [0, 0, 0, 0] : [10, 20, 30, 255])) }
        let nothing = still(PixelSize(square: 3)) { _ in [1, 2, 3, 127] }
        #expect(try await decode(try encode(nothing)).pixels == [UInt8](repeating: 0, count: 36))
    }

    @Test("With 256 colours and something clear, the colours make room for it")
    func roomForClear() async throws {
        let image = still(PixelSize(width: 257, height: 4)) {
            $0 % 257 == 256 ? [0, 0, 0, 0] : [UInt8($0 % 257), 100, 50, 255]
        }
        let again = try await decode(try encode(image))
        for x in 0..<256 {
            #expect(abs(again.pixel(x, 2)[0] - x) <= 2)
            #expect(again.pixel(x, 2)[3] == 255)
        }
        #expect(again.pixel(256, 2) == [0, 0, 0, 0])
    }

    @Test("A square that moves before nothing is drawn and cleared, frame by frame")
    func transparentBackground() async throws {
        let image = animation(6) { frame, x, y in
            (5 * frame..<5 * frame + 8).contains(x) && (4 * frame..<4 * frame + 9).contains(y)
                ? [UInt8(200 + frame), UInt8(x), UInt8(y), 255] : [0, 0, 0, 0]
        }
        #expect(try await decode(try encode(image)).rgbaFrames == image.rgbaFrames)
        let blinking = animation(5) { frame, x, _ in frame % 2 == 0 ? [1, 2, UInt8(x), 255] : [0, 0, 0, 0] }
        #expect(try await decode(try encode(blinking)).rgbaFrames == blinking.rgbaFrames)
        let appearing = animation(5) { frame, x, y in x / 8 <= frame ? [3, 4, UInt8(y), 255] : [0, 0, 0, 0] }
        #expect(try await decode(try encode(appearing)).rgbaFrames == appearing.rgbaFrames)
    }

    @Test("Of a frame only what differs is written, and one that doesn't differ at all still shows for its time")
    func differences() async throws {
        func color(_ x: Int, _ y: Int) -> [UInt8] { [UInt8(x * 6 & 0xf0), UInt8(y * 8 & 0xe0), 0] }
        let one = try encode(animation(2) { _, x, y in color(x, y) }).count
        let same = animation(12) { _, x, y in color(x, y) }
        let bytes = try encode(same)
        #expect(bytes.count - one < 10 * 32)
        let again = try await decode(bytes)
        #expect(again.rgbaFrames == same.rgbaFrames)
        #expect(again.frames.map(\.delay) == same.frames.map(\.delay))
        let dot = animation(12) { frame, x, y in frame == x && y == 7 ? [255, 255, 255] : color(x, y) }
        let dots = try encode(dot)
        #expect(dots.count - one < 12 * 48)
        #expect(try await decode(dots).rgbaFrames == dot.rgbaFrames)
    }

    @Test("Frames whose colours are quite different have palettes of their own")
    func localPalettes() async throws {
        let image = animation(5) { frame, x, y in [UInt8(frame * 51), UInt8(x * 6), UInt8(y % 6 + 40 * frame)] }
        let again = try await decode(try encode(image))
        for (frame, expected) in zip(again.rgbaFrames, image.rgbaFrames) { #expect(frame == expected) }
    }

    @Test("Delays are rounded to hundredths of a second, and the longest there is stands for longer ones")
    func delays() async throws {
        for (delay, written) in [(0, 0), (14, 10), (16, 20), (40, 40), (655_350, 655_350), (9_000_000, 655_350)] {
            let image = animation(2, delay: .milliseconds(delay)) { frame, _, _ in [UInt8(frame), 0, 0] }
            #expect(
                try await decode(try encode(image)).frames.map(\.delay) == [written, written].map { .milliseconds($0) })
        }
    }

    @Test("Loops are kept", arguments: [0, 1, 2, 7, 65_536])
    func loops(_ count: Int) async throws {
        let image = animation(2, loops: count) { frame, _, _ in [UInt8(frame), 0, 0] }
        #expect(try await decode(try encode(image)).loopCount == count)
    }

    @Test("A palette that is asked for is never larger, and effort makes it no worse", arguments: [2, 3, 16, 100])
    func options(_ colors: Int) async throws {
        let image = animation(3) { frame, x, y in [UInt8(6 * x), UInt8(8 * y), UInt8(80 * frame)] }
        func error(_ effort: Int) async throws -> Int {
            let options = EncodeOptions.GIF(colors: colors, dither: 0, effort: effort)
            let again = try await decode(try encode(image, WorkCancellation(), options))
            return zip(again.rgbaFrames, image.rgbaFrames).reduce(0) { sum, pair in
                #expect(Set(pair.0).count <= 1 << (colors == 100 ? 6 : colors == 16 ? 4 : 1))
                return sum
                    + zip(pair.0.joined(), pair.1.joined())
                    .reduce(0) { $0 + (Int($1.0) - Int($1.1)) * (Int($1.0) - Int($1.1)) }
            }
        }
        let (quick, slow) = (try await error(1), try await error(10))
        #expect(Double(slow) <= 1.02 * Double(quick))
    }

    @Test("An animation stops at whichever look finds it cancelled")
    func cancelled() throws {
        var generator = SeededGenerator(seed: 1)
        let image = animation(4) { frame, x, y in
            x > 5 * frame ? [UInt8.random(in: 0...255, using: &generator), UInt8(x), UInt8(y), 255] : [0, 0, 0, 0]
        }
        func looks(patience: Int) throws -> (looks: Int, isStopped: Bool) {
            try ImpatientClock.looks(patience: patience) { _ = try encode(image, $0) }
        }
        let all = try looks(patience: .max).looks
        #expect(all > 30)
        for patience in 1..<all {
            let (looks, isStopped) = try looks(patience: patience)
            #expect(isStopped)
            // The one that finds it out, and one that says why.
            #expect(looks <= patience + 2)
        }
    }
}
