import Pipeline
import PipelineImages
import PipelineTesting
import TestFixtures
import Testing

@Suite("GIF is drawn frame by frame")
struct GIFDecoderTests {
    /// A file of 4×4 pixels: a canvas, and what follows.
    private func file(
        width: Int = 4, height: Int = 4, palette: [[UInt8]]? = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [9, 9, 9]],
        background: UInt8 = 0, _ blocks: [UInt8]...
    ) -> [UInt8] {
        let flags: UInt8 = palette == nil ? 0 : 0x81
        return Array("GIF89a".utf8) + [UInt8(width), 0, UInt8(height), 0, flags, background, 0]
            + (palette ?? []).flatMap { $0 } + blocks.flatMap { $0 } + [0x3b]
    }

    private func control(delay: Int = 5, disposal: UInt8 = 0, transparent: UInt8? = nil) -> [UInt8] {
        [0x21, 0xf9, 4, disposal << 2 | (transparent == nil ? 0 : 1), UInt8(delay), 0, transparent ?? 0, 0]
    }

    /// A frame whose pixels are written as they are: a code of three bits each, with a new beginning after every two.
    private func frame(
        _ rectangle: (x: UInt8, y: UInt8, width: UInt8, height: UInt8), _ indices: [UInt8], interlaced: Bool = false,
        local: [[UInt8]] = []
    ) -> [UInt8] {
        var (bits, count, data) = (0, 0, [UInt8]())
        func put(_ code: Int) {
            bits |= code << count
            count += 3
            while count >= 8 {
                data.append(UInt8(bits & 255))
                (bits, count) = (bits >> 8, count - 8)
            }
        }
        for (position, index) in indices.enumerated() {
            if position % 2 == 0 { put(4) }
            put(Int(index))
        }
        put(5)
        if count > 0 { data.append(UInt8(bits)) }
        let flags: UInt8 = (interlaced ? 0x40 : 0) | (local.isEmpty ? 0 : 0x81)
        return [0x2c, rectangle.x, 0, rectangle.y, 0, rectangle.width, 0, rectangle.height, 0, flags]
            + local.flatMap { $0 } + [2, UInt8(data.count)] + data + [0]
    }

    private func decode(_ bytes: [UInt8], frames: Int = 9, allowTruncated: Bool = false) async throws -> DecodedImage {
        try await SampleImage.decode(
            bytes, with: Decode(limits: ImageLimits(frames: frames), allowTruncated: allowTruncated))
    }

    private let all: (x: UInt8, y: UInt8, width: UInt8, height: UInt8) = (0, 0, 4, 4)
    private let red: [UInt8] = Array(repeating: 0, count: 16)

    @Test("A frame is left, cleared or taken back before the next")
    func disposal() async throws {
        let dot = frame((1, 1, 1, 1), [2])
        for (disposal, left) in [
            (1, [0, 0, 255, 255]), (2, [0, 0, 0, 0]), (3, [255, 0, 0, 255]), (4, [255, 0, 0, 255]),
        ] {
            let image = try await decode(
                file(
                    frame(all, red), control(disposal: UInt8(disposal), transparent: 3), dot,
                    control(), frame((3, 3, 1, 1), [1])))
            #expect(image.frames.count == 3)
            let frames = image.frames.map {
                DecodedImage(size: image.size, layout: image.layout, pixels: $0.pixels)
            }
            #expect(frames[1].pixel(1, 1) == [0, 0, 255, 255])
            #expect(frames[2].pixel(1, 1) == left)
            #expect(frames[2].pixel(3, 3) == [0, 255, 0, 255])
            #expect(frames[2].pixel(0, 0) == [255, 0, 0, 255])
        }
    }

    @Test("A frame that is cleared leaves nothing, as in browsers, whatever colour is said to lie behind all")
    func background() async throws {
        let image = try await decode(
            file(background: 1, control(disposal: 2), frame(all, red), control(), frame((0, 0, 1, 1), [2])))
        let last = DecodedImage(size: image.size, layout: image.layout, pixels: image.frames[1].pixels)
        #expect(last.pixel(0, 0) == [0, 0, 255, 255])
        #expect(last.pixel(1, 1) == [0, 0, 0, 0])
        // Of the first frame alone nothing is cleared.
        let still = try await decode(
            file(background: 1, control(disposal: 2), frame(all, red), control(), frame(all, red)), frames: 1)
        #expect(still.layout == .rgb)
    }

    @Test("What a first frame doesn't cover is clear, and so is an index without a colour")
    func clear() async throws {
        let image = try await decode(file(frame((1, 1, 2, 2), [0, 1, 2, 3])))
        #expect(image.size == PixelSize(square: 4))
        #expect(image.pixel(0, 0) == [0, 0, 0, 0])
        #expect(image.pixel(1, 1) == [255, 0, 0, 255])
        #expect(image.pixel(2, 2) == [9, 9, 9, 255])
        let short = try await decode(
            file(
                palette: nil, control(transparent: 0),
                frame(all, Array(repeating: [0, 1, 2, 3], count: 4).flatMap { $0 })))
        #expect(
            (0..<4).map { short.pixel($0, 0) } == [[0, 0, 0, 0], [255, 255, 255, 255], [0, 0, 0, 0], [0, 0, 0, 0]])
    }

    @Test("A frame beyond the canvas is cut, but the first makes the canvas larger")
    func outside() async throws {
        let cut = try await decode(file(frame(all, red), frame((3, 3, 2, 2), [1, 2, 2, 2]), frame((9, 9, 1, 1), [1])))
        #expect(cut.size == PixelSize(square: 4))
        #expect(cut.frames.count == 3)
        #expect(Array(cut.frames[1].pixels.suffix(3)) == [0, 255, 0])
        #expect(cut.frames[2].pixels == cut.frames[1].pixels)
        let larger = try await decode(file(width: 1, height: 1, frame(all, red)))
        #expect(larger.size == PixelSize(square: 4))
    }

    @Test("A frame that is larger than any picture may be is refused, though nearly nothing of it would show")
    func hugeFrame() async throws {
        var huge = frame((0, 0, 255, 255), [1], interlaced: true)
        huge.replaceSubrange(5..<9, with: [255, 255, 255, 255])
        let bytes = file(frame(all, red), control(), huge)
        let error = try await #require(throws: LoadError.self) { try await decode(bytes) }
        #expect(error.code == .tooManyPixels)
    }

    @Test("Interlaced rows come to their places, and local colours hold for one frame")
    func interlaced() async throws {
        // Of four rows the first pass has row 0, the third row 2, the last rows 1 and 3.
        let rows: [UInt8] = [0, 2, 1, 3].flatMap { Array(repeating: $0, count: 4) }
        let image = try await decode(
            file(
                frame(all, rows, interlaced: true),
                frame((0, 0, 1, 1), [0], local: [[7, 7, 7], [0, 0, 0], [0, 0, 0], [0, 0, 0]])))
        #expect((0..<4).map { image.pixel(0, $0)[0] } == [255, 0, 0, 9])
        #expect((0..<4).map { image.pixel(0, $0)[1] } == [0, 255, 0, 9])
        #expect(Array(image.frames[1].pixels.prefix(6)) == [7, 7, 7, 255, 0, 0])
    }

    @Test("Delays are as they are stored, a tenth of a second where nothing is; loops count from the first")
    func timing() async throws {
        let netscape = [0x21, 0xff, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, 4, 0, 0] as [UInt8]
        let frames = control(delay: 0) + frame(all, red) + control(delay: 1) + frame(all, red) + frame(all, red)
        let image = try await decode(file(netscape, frames))
        #expect(image.frames.map(\.delay) == [0, 10, 100].map { .milliseconds($0) })
        #expect(image.loopCount == 5)
        #expect(try await decode(file(frames)).loopCount == 1)
        #expect(try await decode(file(frames), frames: 1).frames.map(\.delay) == [.zero])
    }

    @Test("A frame that says that it ends keeps what was there; one that is cut off is an error, or what there is")
    func cutOff() async throws {
        let early = try await decode(file(frame(all, red), frame(all, [1, 1])))
        #expect(Array(early.frames[1].pixels.prefix(9)) == [0, 255, 0, 0, 255, 0, 255, 0, 0])
        let whole = try Pictures.bytes("good/gif-animated.gif")
        let cut = Array(whole.prefix(whole.count * 3 / 4))
        #expect(try await decode(cut, frames: 1).frames.count == 1)
        let error = try await #require(throws: LoadError.self) { try await decode(cut) }
        #expect(error.code == .undecodable)
        let there = try await decode(cut, allowTruncated: true)
        let expected = try await decode(whole)
        #expect((2...4).contains(there.frames.count))
        #expect(there.frames[0] == expected.frames[0])
    }

    @Test("Damaged bytes give an error or a picture")
    func damaged() async throws {
        var random = SeededGenerator(seed: 11)
        for name in ["gif-animated.gif", "gif-disposal-1231-transparent.gif"] {
            let whole = try Pictures.bytes("good/\(name)")
            for round in 0..<300 {
                var bytes = whole
                for _ in 0..<4 {
                    bytes[Int.random(in: 6..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
                let limits = ImageLimits(pixels: 1_000_000, frames: 9)
                let decode = Decode(limits: limits, allowTruncated: round % 2 == 0)
                do {
                    #expect(try await SampleImage.decode(bytes, with: decode).size.width > 0)
                } catch let error as LoadError {
                    #expect([.undecodable, .tooManyPixels].contains(error.code))
                }
            }
        }
    }
}
