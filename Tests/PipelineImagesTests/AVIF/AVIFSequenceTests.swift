import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineImages

/// `generated/animated.avif` is made by another program, of the frames of `good/gif-animated.gif`.
@Suite("Animated AVIF is read and written with its timing")
struct AVIFSequenceTests {
    private let all = Decode(limits: ImageLimits(frames: 100))

    private func sample() throws -> [UInt8] { try Pictures.bytes("generated/animated.avif") }

    private func encoded(_ image: DecodedImage, _ format: ImageFormat, _ options: EncodeOptions = EncodeOptions())
        async throws -> [UInt8]
    {
        let response = try await SampleImage.process(image) { Encode(format, options: options) }
        return try #require(response.encoded).bytes
    }

    @Test("Its first frame by default, or as many as are allowed, with their delays")
    func frames() async throws {
        let first = try await SampleImage.decode(try sample())
        #expect(first.frames.map(\.delay) == [.zero])
        let whole = try await SampleImage.decode(try sample(), with: all)
        #expect(whole.frames.map(\.delay) == [100, 200, 300, 400].map { .milliseconds($0) })
        #expect(whole.loopCount == 0)
        #expect(whole.pixels == first.pixels)
        let two = try await SampleImage.decode(try sample(), with: Decode(limits: ImageLimits(frames: 2)))
        #expect(two.frames.map(\.pixels) == whole.frames.prefix(2).map(\.pixels))
    }

    @Test("The frames are those of the animation that it was made of, at any size")
    func pictures() async throws {
        for box in [nil, PixelSize(square: 30)] {
            let ours = try await SampleImage.decode(try sample(), maxPixelSize: box, with: all)
            let gif = try await SampleImage.decode(
                try Pictures.bytes("good/gif-animated.gif"), maxPixelSize: box, with: all)
            #expect(ours.size == gif.size)
            #expect(Set(ours.frames.map(\.pixels)).count == 4)
            for (frame, expected) in zip(ours.frames, gif.frames) {
                let shown = DecodedImage(size: ours.size, layout: ours.layout, pixels: frame.pixels)
                let wanted = DecodedImage(size: gif.size, layout: gif.layout, pixels: expected.pixels)
                #expect(shown.difference(from: wanted) < 6)
            }
        }
    }

    @Test("The header and the metadata tell frames and loops without a decode")
    func told() async throws {
        let metadata = try await ImageMetadata(of: try sample())
        #expect(metadata.frames == 4)
        #expect(metadata.loopCount == 0)
        #expect(metadata.hasAlpha)
        #expect(metadata.size == PixelSize(width: 64, height: 48))
    }

    @Test("Written, an animation keeps frames, delays and loops", arguments: [0, 1, 2, 3, 1000])
    func loops(_ count: Int) async throws {
        let source = try await SampleImage.decode(try Pictures.bytes("good/webp-animated.webp"), with: all)
        let image = DecodedImage(size: source.size, layout: source.layout, frames: source.frames, loopCount: count)
        let bytes = try await encoded(image, .avif)
        let again = try await SampleImage.decode(bytes, with: all)
        #expect(again.frames.map(\.delay) == image.frames.map(\.delay))
        #expect(again.loopCount == count)
        #expect(again.layout == image.layout)
        // Its still picture is found where it now lies.
        let file = try HEIFStill(bytes, format: .avif, cancellation: WorkCancellation())
        let still = try file.decode(
            file.header, box: nil, options: DecodeOptions(), cancellation: WorkCancellation())
        let first = DecodedImage(size: again.size, layout: again.layout, pixels: again.pixels)
        #expect(still.difference(from: first) < 1)
    }

    /// libavif writes edits of its own from version 1.0 on, in the same form.
    @Test("Edits that are there already are replaced", arguments: [0, 1, 3], [0, 1, 2, 1000])
    func replaced(_ first: Int, _ second: Int) async throws {
        let source = try await SampleImage.decode(try Pictures.bytes("good/webp-animated.webp"), with: all)
        let image = DecodedImage(size: source.size, layout: source.layout, frames: source.frames, loopCount: first)
        let bytes = try await encoded(image, .avif)
        let again = AVIFLoops(second).added(to: bytes)
        #expect(again.count == bytes.count && (again == bytes) == (first == second))
        #expect(try await SampleImage.decode(again, with: all).loopCount == second)
        #expect(AVIFLoops(first).added(to: again) == bytes)
    }

    @Test(
        "From and to the other formats that move, the pictures stay what they are",
        arguments: ["good/gif-disposal-1231-transparent.gif", "good/webp-animated.webp", "generated/animated.avif"],
        [ImageFormat.avif, .webp, .gif])
    func converted(_ name: String, _ format: ImageFormat) async throws {
        let image = try await SampleImage.decode(try Pictures.bytes(name), with: all)
        let again = try await SampleImage.decode(
            try await encoded(image, format, EncodeOptions(quality: 95)), with: all)
        // No frame of an AVIF sequence takes no time at all.
        let shortest = format == .avif ? 1 : 0
        #expect(
            again.frames.map(\.delay.milliseconds) == image.frames.map { max(Int64(shortest), $0.delay.milliseconds) })
        #expect(again.loopCount == image.loopCount)
        for (frame, expected) in zip(again.rgbaFrames, image.rgbaFrames) {
            var (sum, opaque) = (0, 0)
            for (pixel, wanted) in zip(frame, expected) where wanted[3] > 250 && pixel[3] > 250 {
                sum += (0..<3).reduce(0) { $0 + abs(Int(pixel[$1]) - Int(wanted[$1])) }
                opaque += 3
            }
            #expect(opaque > 0)
            #expect(Double(sum) / Double(max(1, opaque)) < 8)
        }
    }

    @Test("Resize and crop treat every frame")
    func transformed() async throws {
        let response = try await SampleImage.load(try sample()) {
            all
            Resize(32)
            Crop(x: 2, y: 2, width: 20, height: 10)
            Encode(.avif)
        }
        let again = try await SampleImage.decode(try #require(response.encoded).bytes, with: all)
        #expect(again.size == PixelSize(width: 20, height: 10))
        #expect(again.frames.map(\.delay) == [100, 200, 300, 400].map { .milliseconds($0) })
    }

    @Test("Written without loss, the pixels come back nearly as they were")
    func lossless() async throws {
        let image = try await SampleImage.decode(try Pictures.bytes("good/webp-animated.webp"), with: all)
        var options = EncodeOptions()
        options.avif.lossless = true
        let again = try await SampleImage.decode(try await encoded(image, .avif, options), with: all)
        for (frame, expected) in zip(again.rgbaFrames, image.rgbaFrames) {
            for (pixel, wanted) in zip(frame, expected) where wanted[3] == 255 { #expect(pixel == wanted) }
        }
    }

    @Test("A second track that is depth, not transparency, is left alone")
    func depth() async throws {
        var bytes = try sample()
        for place in bytes.ranges(of: Array("auxiliary:alpha".utf8)) {
            bytes.replaceSubrange(place, with: Array("auxiliary:depth".utf8))
        }
        #expect(bytes != (try sample()))
        let image = try await SampleImage.decode(bytes, with: all)
        #expect(image.layout == .rgb)
        #expect(image.frames.count == 4)
        #expect(try await ImageMetadata(of: bytes).hasAlpha == false)
    }

    @Test("Metadata of an animation is kept")
    func metadata() async throws {
        let source = try Pictures.bytes("good/jpeg-exif-xmp-icc.jpg")
        let still = try await SampleImage.decode(source, maxPixelSize: 40)
        let image = DecodedImage(size: still.size, layout: still.layout, frames: [still.frames[0], still.frames[0]])
        let blocks = try KeptMetadata.all.blocks(
            of: DecodedSource(file: EncodedImage(bytes: source), format: .jpeg), .standard, for: image,
            cancellation: WorkCancellation())
        let bytes = try EncodeOptions().file(of: image, .avif, metadata: blocks)
        let found = try await ImageMetadata(of: bytes)
        #expect(found.frames == 2)
        #expect(found.camera != nil)
        #expect(found.profile?.isSRGB == true)
    }

    @Test("The limit of pixels counts all frames that would be decoded")
    func limits() async throws {
        let area = 64 * 48
        let four = Decode(limits: ImageLimits(pixels: 4 * area, frames: 9))
        #expect(try await SampleImage.decode(try sample(), with: four).frames.count == 4)
        let tooFew = Decode(limits: ImageLimits(pixels: 4 * area - 1, frames: 9))
        let error = try await #require(throws: LoadError.self) {
            try await SampleImage.decode(try sample(), with: tooFew)
        }
        #expect(error.code == .tooManyPixels)
    }

    @Test("What is coded may not be larger than the header says")
    func larger() async throws {
        var bytes = try sample()
        let header = try #require(bytes.firstRange(of: Array("tkhd".utf8)))
        // Version 1: the size is at the end of the box.
        bytes[header.upperBound + 88 + 1] = 16
        #expect(try AVIFSequence(bytes)?.size.width == 16)
        let error = try await #require(throws: LoadError.self) { try await SampleImage.decode(bytes, with: all) }
        #expect(error.code == .undecodable)
    }

    @Test("More frames than bytes are an error by the header alone")
    func manyFrames() async throws {
        var bytes = try sample()
        let sizes = try #require(bytes.firstRange(of: Array("stsz".utf8)))
        bytes.replaceSubrange(sizes.upperBound + 4..<sizes.upperBound + 12, with: [0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff])
        let error = try await #require(throws: LoadError.self) { try await SampleImage.decode(bytes, with: all) }
        #expect(error.code == .undecodable)
    }

    @Test("A file that is cut off is an error, or gives the frames that are there")
    func truncated() async throws {
        let bytes = try sample()
        var counts: Set<Int> = []
        for part in 1..<40 {
            let cut = Array(bytes.prefix(bytes.count * part / 40))
            let error = try await #require(throws: LoadError.self) { try await SampleImage.decode(cut, with: all) }
            #expect(error.code == .undecodable)
            let lenient = Decode(limits: ImageLimits(frames: 100), allowTruncated: true)
            guard let image = try? await SampleImage.decode(cut, with: lenient) else { continue }
            #expect(image.size == PixelSize(width: 64, height: 48))
            counts.insert(image.frames.count)
        }
        #expect(counts.isSuperset(of: [1, 2, 3]))
    }

    @Test("Damaged bytes give an error or a picture")
    func damaged() async throws {
        let bytes = try sample()
        var random = SeededGenerator(seed: 7)
        for _ in 0..<400 {
            var damaged = bytes
            for _ in 0..<4 {
                damaged[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            do {
                let decode = Decode(limits: ImageLimits(pixels: 2_000_000, frames: 9))
                #expect(try await SampleImage.decode(damaged, with: decode).size.width > 0)
            } catch let error as LoadError {
                #expect(!error.message.isEmpty)
            }
        }
    }
}
