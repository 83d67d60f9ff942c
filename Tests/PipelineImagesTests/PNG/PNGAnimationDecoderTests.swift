import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineImages

@Suite("An animated PNG is drawn frame by frame (PNG, third edition, section 11.3.6)")
struct PNGAnimationDecoderTests {
    private typealias Frame = AnimatedPNG.Frame
    private typealias File = PNGDecoderTests.File

    private let all = AnimatedPNG.all
    private let red: [UInt8] = [255, 0, 0, 255]
    private let green: [UInt8] = [0, 255, 0, 255]
    private let blue: [UInt8] = [0, 0, 255, 255]

    private func decode(
        _ bytes: [UInt8], frames: Int = 9, allowTruncated: Bool = false, maxPixelSize: PixelSize? = nil
    ) async throws -> DecodedImage {
        try await SampleImage.decode(
            bytes, maxPixelSize: maxPixelSize,
            with: Decode(limits: ImageLimits(frames: frames), allowTruncated: allowTruncated))
    }

    private func header(_ bytes: [UInt8]) throws -> ImageHeader {
        try PNGDecoder().header(of: bytes, cancellation: WorkCancellation())
    }

    @Test("A sample has the frames, delays and loops of the GIF of the same animation")
    func sample() async throws {
        let image = try await decode(try Pictures.bytes("good/png-apng-animated.png"))
        let expected = try await decode(try Pictures.bytes("good/gif-animated.gif"))
        #expect(image.rgbaFrames == expected.rgbaFrames)
        #expect(image.frames.map(\.delay) == expected.frames.map(\.delay))
        #expect(image.loopCount == expected.loopCount)
    }

    @Test(
        "A frame is left, cleared or taken back before the next frame",
        arguments: [(0, [0, 0, 255, 255]), (1, [0, 0, 0, 0]), (2, [255, 0, 0, 255])])
    func disposal(_ number: Int, _ left: [Int]) async throws {
        let image = try await decode(
            AnimatedPNG([
                .plain(all, red), .plain((1, 1, 2, 2), blue, disposal: UInt8(number)), .plain((3, 3, 1, 1), green),
            ]).bytes)
        let last = DecodedImage(size: 4, layout: .rgba, frames: [image.frames[2]])
        #expect(image.rgbaFrames[1][5] == blue)
        #expect(last.pixel(0, 0) == [255, 0, 0, 255])
        for place in [(1, 1), (2, 1), (1, 2), (2, 2)] { #expect(last.pixel(place.0, place.1) == left) }
        #expect(last.pixel(3, 3) == [0, 255, 0, 255])
    }

    @Test("A first frame that is to be taken back is cleared, since nothing precedes it")
    func firstTakenBack() async throws {
        let image = try await decode(
            AnimatedPNG([.plain(all, red, disposal: 2), .plain((0, 0, 1, 1), green)]).bytes)
        #expect(image.rgbaFrames[1] == [green] + Array(repeating: [0, 0, 0, 0], count: 15))
    }

    @Test("A frame replaces what it covers, or is blended over it by its alpha")
    func blending() async throws {
        var generator = SeededGenerator(seed: 5)
        func rows() -> [[UInt8]] {
            (0..<64).map { y in
                [0]
                    + (0..<64).flatMap { x in
                        // All alphas over all alphas, the extremes included.
                        let alpha = [0, 255, UInt8(x * 4), .random(in: 0...255, using: &generator)][(x + y) % 4]
                        return (0..<3).map { _ in .random(in: 0...255, using: &generator) } + [alpha]
                    }
            }
        }
        let (below, above) = (rows(), rows())
        func image(isBlended: Bool) async throws -> DecodedImage {
            let frames = [
                Frame(width: 64, height: 64, rows: below),
                Frame(width: 64, height: 64, rows: above, isBlended: isBlended),
            ]
            return try await decode(AnimatedPNG(frames, width: 64, height: 64).bytes)
        }
        let replaced = try await image(isBlended: false)
        #expect(replaced.frames[0].pixels == below.flatMap { $0.dropFirst() })
        #expect(replaced.frames[1].pixels == above.flatMap { $0.dropFirst() })
        let blended = try await image(isBlended: true).rgbaFrames[1]
        for (index, pixel) in blended.enumerated() {
            let start = 1 + index % 64 * 4
            let (source, target) = (above[index / 64][start..<start + 4], below[index / 64][start..<start + 4])
            let (from, to) = (source.map { Double($0) / 255 }, target.map { Double($0) / 255 })
            let alpha = from[3] + to[3] * (1 - from[3])
            #expect(abs(Double(pixel[3]) - 255 * alpha) <= 0.5 + 1e-9)
            guard from[3] > 0 else {
                #expect(pixel == Array(target))
                continue
            }
            for channel in 0..<3 {
                let color = (from[channel] * from[3] + to[channel] * to[3] * (1 - from[3])) / alpha
                #expect(abs(Double(pixel[channel]) - 255 * color) <= 0.5 + 1e-9, "\(source) over \(target)")
            }
        }
    }

    @Test("A picture that isn't a frame is what a load of one frame gives, and isn't part of the animation")
    func hiddenPicture() async throws {
        let gray: [UInt8] = [9, 9, 9, 255]
        let row: [UInt8] = [0] + gray + gray + gray + gray
        let still = Array(repeating: row, count: 4)
        let bytes = AnimatedPNG([.plain(all, red), .plain(all, blue)], still: still).bytes
        #expect(try header(bytes).frames == 2)
        #expect(try await decode(bytes, frames: 1).rgbaFrames == [Array(repeating: gray, count: 16)])
        let image = try await decode(bytes)
        #expect(image.rgbaFrames == [red, blue].map { Array(repeating: $0, count: 16) })
        #expect(try await decode(bytes, frames: 2) == image)
    }

    @Test("A first frame that is smaller than the canvas stands on transparent pixels")
    func smallFirstFrame() async throws {
        let still = Array(repeating: [0, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7] as [UInt8], count: 4)
        let bytes = AnimatedPNG(
            [.plain((1, 0, 1, 1), [1, 2, 3]), .plain((0, 0, 1, 1), [4, 5, 6])], color: 2, still: still
        ).bytes
        let clear = Array(repeating: [0, 0, 0, 0] as [UInt8], count: 14)
        let image = try await decode(bytes)
        #expect(try header(bytes).hasAlpha)
        #expect(
            image.rgbaFrames == [
                [[0, 0, 0, 0], [1, 2, 3, 255]] + clear, [[4, 5, 6, 255], [1, 2, 3, 255]] + clear,
            ])
    }

    @Test("Delays are fractions of a second, of which 0 means hundredths; plays are counted, and 0 is for ever")
    func timing() async throws {
        let delays = [(0, 1), (1, 30), (7, 0), (65_535, 1), (3, 65_535)]
        var frames = delays.map { _ in Frame.plain(all, red) }
        for (index, delay) in delays.enumerated() { frames[index].delay = (delay.0, delay.1) }
        let image = try await decode(AnimatedPNG(frames, plays: 3).bytes)
        #expect(image.frames.map(\.delay) == [0, 33, 70, 65_535_000, 0].map { .milliseconds($0) })
        #expect(image.loopCount == 3)
        #expect(try await decode(AnimatedPNG(frames).bytes).loopCount == 0)
        #expect(try await decode(AnimatedPNG(frames, plays: 3).bytes, frames: 1).loopCount == 0)
    }

    /// Rows of noise, as a file of such a depth stores them; those of seven passes if it is interlaced.
    private func noise(
        _ width: Int, _ height: Int, bits: Int, interlace: UInt8, _ generator: inout SeededGenerator
    ) -> [[UInt8]] {
        let passes =
            interlace == 0
            ? [(0, 0, 1, 1)]
            : [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
        return passes.flatMap { x, y, across, down -> [[UInt8]] in
            let count = (width - x + across - 1) / across
            guard count > 0 else { return [] }
            return stride(from: y, to: height, by: down).map { _ in
                [0] + (0..<(count * bits + 7) / 8).map { _ in UInt8.random(in: 0...255, using: &generator) }
            }
        }
    }

    @Test(
        "Frames of every kind have the pixels of a still picture with their rows",
        arguments: [
            (0, 1), (0, 4), (0, 8), (0, 16), (2, 8), (2, 16), (3, 2), (3, 8), (4, 8), (4, 16), (6, 8), (6, 16),
        ], [0, 1, 2, 3])
    func kinds(_ kind: (color: Int, depth: Int), _ variant: Int) async throws {
        let (interlace, hasTransparency) = (UInt8(variant & 1), variant > 1)
        var generator = SeededGenerator(seed: UInt64(kind.color * 100 + kind.depth))
        let samples = [0: 1, 2: 3, 3: 1, 4: 2, 6: 4][kind.color] ?? 1
        var colors: [(String, [UInt8])] = []
        if kind.color == 3 { colors.append(("PLTE", (0..<768).map { UInt8(truncatingIfNeeded: $0 * 7) })) }
        if hasTransparency {
            let keys: [Int: [UInt8]] = [0: [0, 1], 2: [0, 1, 0, 1, 0, 1], 3: [0, 100, 200]]
            // Other kinds have their own transparency.
            guard let key = keys[kind.color] else { return }
            colors.append(("tRNS", key))
        }
        let sizes = [(0, 0, 9, 7), (2, 1, 5, 5)]
        let frames = sizes.map { x, y, width, height in
            Frame(
                x: x, y: y, width: width, height: height,
                rows: noise(width, height, bits: samples * kind.depth, interlace: interlace, &generator))
        }
        let image = try await decode(
            AnimatedPNG(
                frames, width: 9, height: 7, depth: kind.depth, color: kind.color, interlace: interlace, colors: colors
            ).bytes)
        var expected: [[[UInt8]]] = []
        for frame in frames {
            let still = File(
                width: frame.width, height: frame.height, depth: kind.depth, color: kind.color, interlace: interlace,
                chunks: colors, rows: frame.rows)
            let pixels = try await SampleImage.decode(still.bytes).rgbaFrames[0]
            var canvas = expected.last ?? Array(repeating: [], count: 63)
            for y in 0..<frame.height {
                for x in 0..<frame.width {
                    canvas[(frame.y + y) * 9 + frame.x + x] = pixels[y * frame.width + x]
                }
            }
            expected.append(canvas)
        }
        #expect(image.rgbaFrames == expected)
        #expect(image.layout == (hasTransparency || kind.color >= 4 ? .rgba : kind.color == 0 ? .gray : .rgb))
    }

    @Test("A reduced animation has the pixels of its reduced frames, and each is turned upright")
    func reduced() async throws {
        let bytes = try Pictures.bytes("good/png-apng-animated.png")
        let whole = try await decode(bytes)
        let image = try await decode(bytes, maxPixelSize: PixelSize(square: 20))
        #expect(image.size == PixelSize(width: 20, height: 15))
        #expect(image.nativeSize == PixelSize(width: 64, height: 48))
        for (frame, small) in zip(whole.frames, image.frames) {
            let still = DecodedImage(size: whole.size, layout: whole.layout, frames: [frame])
            let file = try await EncodedImage(encoding: still, as: .png)
            let expected = try await decode(file.bytes, maxPixelSize: PixelSize(square: 20))
            #expect(small.pixels == expected.pixels)
        }
        let exif: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0]
        let frames = [Frame.plain((0, 0, 2, 1), red), .plain((1, 0, 1, 1), blue)]
        let turned = try await decode(AnimatedPNG(frames, width: 2, height: 1, colors: [("eXIf", exif)]).bytes)
        #expect(turned.size == PixelSize(width: 1, height: 2))
        #expect(turned.rgbaFrames == [[red, red], [red, blue]])
    }

    @Test("The first frames are decoded if no more are wanted, and the limit of pixels counts them")
    func limits() async throws {
        let bytes = AnimatedPNG([red, green, blue].map { .plain(all, $0) }).bytes
        #expect(try await decode(bytes, frames: 2).rgbaFrames.map { $0[0] } == [red, green])
        let tooFew = Decode(limits: ImageLimits(pixels: 47, frames: 3))
        let error = try await #require(throws: LoadError.self) { try await SampleImage.decode(bytes, with: tooFew) }
        #expect(error.code == .tooManyPixels)
        #expect(try await SampleImage.decode(bytes, with: Decode(limits: ImageLimits(pixels: 16))).frames.count == 1)
    }

    /// A change of three frames, and how many of them can still be drawn.
    private static let faults: [(name: String, left: Int, change: @Sendable (inout AnimatedPNG) -> Void)] = [
        ("a frame beyond the right edge", 1, { $0.chunks[$0.places("fcTL")[1]].body[15] = 3 }),
        ("a frame beyond the lower edge", 1, { $0.chunks[$0.places("fcTL")[1]].body[19] = 3 }),
        (
            "a frame at the largest place", 1,
            { $0.chunks[$0.places("fcTL")[1]].body.replaceSubrange(12..<20, with: Array(repeating: 255, count: 8)) }
        ),
        ("a frame of no width", 1, { $0.chunks[$0.places("fcTL")[1]].body[7] = 0 }),
        ("a frame of no height", 2, { $0.chunks[$0.places("fcTL")[2]].body[11] = 0 }),
        ("an unknown disposal", 1, { $0.chunks[$0.places("fcTL")[1]].body[24] = 3 }),
        ("an unknown blending", 1, { $0.chunks[$0.places("fcTL")[1]].body[25] = 2 }),
        ("a control chunk that is too short", 1, { $0.chunks[$0.places("fcTL")[1]].body.removeLast() }),
        ("a control chunk out of order", 1, { $0.chunks[$0.places("fcTL")[1]].body[3] += 1 }),
        ("pixels out of order", 1, { $0.chunks[$0.places("fdAT")[0]].body[3] += 1 }),
        ("pixels that end in the middle", 2, { $0.chunks.remove(at: $0.places("fdAT")[3]) }),
        ("a frame without pixels", 1, { $0.chunks.removeSubrange($0.places("fdAT")[0]...$0.places("fdAT")[1]) }),
        ("pixels without a sequence number", 1, { $0.chunks[$0.places("fdAT")[0]].body = [0] }),
        ("pixels that aren't deflated", 2, { $0.chunks[$0.places("fdAT")[2]].body[4] = 0 }),
        ("too few frames", 3, { $0.chunks[1].body[3] = 4 }),
        ("no last frame", 2, { $0.chunks.removeSubrange($0.places("fcTL")[2]..<$0.chunks.count - 1) }),
    ]

    @Test(
        "A damaged animation is an error or, if allowed, the frames before the damage; its picture can be read",
        arguments: faults.indices)
    func damagedChunks(_ index: Int) async throws {
        let (name, left, change) = Self.faults[index]
        let frames = [Frame.plain(all, red), .plain((2, 2, 2, 2), green), .plain((0, 0, 1, 1), blue)]
        let whole = try await decode(AnimatedPNG(frames).bytes)
        var file = AnimatedPNG(frames)
        change(&file)
        let bytes = file.bytes
        let error = try await #require(throws: LoadError.self, "\(name)") { try await decode(bytes) }
        #expect(error.code == .undecodable, "\(name)")
        #expect(try await decode(bytes, frames: 1).pixels == whole.pixels, "\(name)")
        let there = try await decode(bytes, allowTruncated: true)
        #expect(there.frames.map(\.pixels) == whole.frames.prefix(left).map(\.pixels), "\(name)")
    }

    @Test("A wrong checksum of a frame's pixels is found")
    func checksum() async throws {
        let file = AnimatedPNG([.plain(all, red), .plain(all, green)])
        var bytes = file.bytes
        // The last byte of the last checksum before the end.
        bytes[bytes.count - 13] ^= 1
        await #expect(throws: LoadError.self) { try await decode(bytes) }
        #expect(try await decode(bytes, frames: 1).rgbaFrames[0][0] == red)
    }

    @Test("Numbers of frames after the picture, without sense or given twice don't count")
    func numbers() async throws {
        let frames = [Frame.plain(all, red), .plain(all, green), .plain(all, blue)]
        var late = AnimatedPNG(frames)
        late.chunks.insert(late.chunks.remove(at: 1), at: late.chunks.count - 2)
        #expect(try await decode(late.bytes).rgbaFrames == [Array(repeating: red, count: 16)])
        for declared in [0, 0x7fff_ffff, 0xffff_ffff] {
            let lie = AnimatedPNG(frames, declared: declared).bytes
            #expect(try header(lie).frames == 1)
            #expect(try await decode(lie).frames.count == 1)
        }
        var twice = AnimatedPNG(frames, plays: 2)
        twice.chunks.insert(("acTL", [0, 0, 0, 2, 0, 0, 0, 7]), at: 2)
        #expect(try await decode(twice.bytes).frames.count == 3)
        #expect(try await decode(twice.bytes).loopCount == 2)
        // Frames beyond the number aren't shown.
        #expect(try await decode(AnimatedPNG(frames, declared: 2).bytes).rgbaFrames.map { $0[0] } == [red, green])
        let one = AnimatedPNG([.plain(all, red)]).bytes
        #expect(try await decode(one).rgbaFrames == [Array(repeating: red, count: 16)])
    }

    @Test("Of a file that is cut off anywhere, each frame that is given is whole")
    func cutOff() async throws {
        let bytes = AnimatedPNG([red, green, blue].map { .plain(all, $0) }).bytes
        let whole = try await decode(bytes)
        var counts: Set<Int> = []
        // The first frame is complete where its chunk of pixels ends.
        let start = bytes.count - 2 * (38 + 2 * 12 + 2 * 4 + AnimatedPNG.File.stream(whole.rowsOfFirst).count) - 12
        for count in start..<bytes.count - 12 {
            let cut = Array(bytes.prefix(count))
            await #expect(throws: LoadError.self, "\(count)") { try await decode(cut) }
            let there = try await decode(cut, allowTruncated: true)
            #expect(there.frames.map(\.pixels) == whole.frames.prefix(there.frames.count).map(\.pixels), "\(count)")
            counts.insert(there.frames.count)
        }
        #expect(counts == [1, 2])
    }

    @Test("Changed bytes give an error or a picture")
    func changedBytes() async throws {
        var random = SeededGenerator(seed: 12)
        let whole = PNGFrameChunks(try Pictures.bytes("good/png-apng-animated.png"))
        var drawn = 0
        for round in 0..<400 {
            var chunks = whole.chunks
            for _ in 0..<2 {
                let index = Int.random(in: 1..<chunks.count, using: &random)
                guard !chunks[index].1.isEmpty else { continue }
                let byte = Int.random(in: 0..<min(30, chunks[index].1.count), using: &random)
                chunks[index].1[byte] = UInt8.random(in: 0...255, using: &random)
            }
            let limits = ImageLimits(pixels: 1_000_000, frames: 9)
            let decode = Decode(limits: limits, allowTruncated: round % 2 == 0)
            do {
                let image = try await SampleImage.decode(File.file(chunks), with: decode)
                #expect(image.size == PixelSize(width: 64, height: 48))
                if image.frames.count > 1 { drawn += 1 }
            } catch let error as LoadError {
                #expect([.undecodable, .tooManyPixels].contains(error.code))
            }
        }
        #expect(drawn > 20)
    }
}

extension DecodedImage {
    /// The first frame's rows, each after the number of the filter that changes nothing.
    fileprivate var rowsOfFirst: [[UInt8]] {
        let length = width * layout.channelCount
        return (0..<height).map { [0] + pixels[$0 * length..<($0 + 1) * length] }
    }
}

/// The chunks of a file, without their checksums.
private struct PNGFrameChunks {
    var chunks: [(String, [UInt8])] = []

    init(_ bytes: [UInt8]) {
        var found = PNGChunks(bytes, WorkCancellation())
        while let chunk = try? found.next() { chunks.append((chunk.letters, Array(bytes[chunk.body]))) }
    }
}
