import CImages
import Pipeline
import TestFixtures
import Testing

@testable import PipelineImages

@Suite("What a file can make grow is counted before it grows")
struct ImageGrowthTests {
    private func big(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
    private func little(_ value: Int, _ count: Int = 4) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private func header(_ file: [UInt8], _ format: ImageFormat) throws -> ImageHeader {
        try #require(ImageCodecs.standard.codec(for: format)?.decoder)
            .header(of: file, cancellation: WorkCancellation())
    }

    // MARK: Sides

    @Test("A side that is longer than the limit is refused, whatever the number of pixels")
    func sides() throws {
        for size in [PixelSize(width: 100_001, height: 1), PixelSize(width: 1, height: 50_000_000)] {
            let header = ImageHeader(format: .png, storedSize: size)
            let error = try #require(throws: LoadError.self) { try ImageLimits().check(header) }
            #expect(error.code == .tooManyPixels)
            #expect(error.message.contains("a side may have 100000"))
            try ImageLimits(side: 50_000_000).check(header)
            var coded = ImageHeader(format: .png, storedSize: PixelSize(square: 1))
            coded.codedSize = size
            #expect(throws: LoadError.self) { try ImageLimits().check(coded) }
        }
        // The longest of a JPEG and of a GIF.
        try ImageLimits().check(ImageHeader(format: .jpeg, storedSize: PixelSize(width: 65_535, height: 700)))
    }

    @Test("Weights and rows are in the estimate, and grow with the side", arguments: [1000, 10_000, 100_000])
    func kernels(_ side: Int) {
        let header = ImageHeader(format: .png, storedSize: PixelSize(width: side, height: 1))
        let estimate = header.decodingMemory(box: 300, frames: 1)
        let kernel = ResampleKernel.taps(scale: Double(side) / 300, isSharpened: true) * 300 * 2
        #expect(estimate >= kernel)
        #expect(estimate <= side * 400)
    }

    @Test("A kernel's weights are cancelled while they are computed")
    func cancelledKernel() throws {
        let plan = ResamplePlan(
            from: PixelSize(width: 100_000, height: 1), to: PixelSize(width: 3000, height: 1), reserve: 2)
        let (looks, isStopped) = try ImpatientClock.looks(patience: 1) { cancellation in
            _ = try Resampler(plan, layout: .gray, cancellation: cancellation)
        }
        #expect(isStopped)
        #expect(looks == 2)
    }

    @Test("No number of a header makes an estimate trap")
    func largestNumbers() throws {
        for size in [PixelSize(width: .max, height: .max), PixelSize(width: 4_294_967_295, height: 4_294_967_295)] {
            for format in ImageCodecs.standard.codecs.map(\.format) {
                var header = ImageHeader(format: format, storedSize: size, orientation: .left, hasAlpha: true)
                header.memory = .max
                for box in [nil, PixelSize(square: 300), PixelSize(square: .max)] {
                    #expect(header.decodingMemory(box: box, frames: .max) == .max)
                }
            }
        }
        // An interlaced PNG of 2147483647² pixels.
        let fields = big(0x7fff_ffff) + big(0x7fff_ffff) + [16, 6, 0, 0, 1]
        let png =
            [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] + PNGDecoderTests.File.chunk("IHDR", fields)
            + PNGDecoderTests.File.chunk("IDAT", [0])
        let header = try header(png, .png)
        #expect(header.storedSize == PixelSize(square: 0x7fff_ffff))
        #expect(header.decodingMemory(box: 300, frames: 1) == .max)
    }

    @Test("A list's estimate before its decode is that of the decode; of what it refuses there is none")
    func estimateOfList() async throws {
        func estimate(_ bytes: [UInt8]) async throws -> Int? {
            let found = Lock<Int?>(nil)
            _ = try await SampleImage.load(bytes) { Estimate { peak in found.withLock { $0 = peak } } }
            return found.withLock { $0 }
        }
        let photograph = try Pictures.bytes("good/jpeg-progressive-444.jpg")
        let header = try header(photograph, .jpeg)
        #expect(try await estimate(photograph) == header.decodingMemory(box: nil, frames: 1))
        let webp = try Pictures.bytes("good/webp-lossy.webp")
        for length in 12..<30 { #expect(try await estimate(Array(webp.prefix(length))) == nil) }
        #expect(try await estimate(try Pictures.bytes("good/svg-shapes.svg")) == nil)
    }

    // MARK: Chunks

    private func png(chunks: Int) -> [UInt8] {
        let row: [UInt8] = [0, 1, 2, 3]
        let plain = PNGDecoderTests.File(width: 3, height: 1, color: 0, rows: [row]).bytes
        let chunk = PNGDecoderTests.File.chunk("juNk", [])
        return plain.prefix(33) + (0..<chunks).flatMap { _ in chunk } + plain.dropFirst(33)
    }

    @Test(
        "A PNG's chunks are looked at by the hundred, and end at a hundred thousand", arguments: [1000, 10_000, 99_000])
    func pngChunks(_ count: Int) throws {
        let file = png(chunks: count)
        let (looks, _) = try ImpatientClock.looks(patience: .max) { cancellation in
            _ = try PNGFile(file, cancellation)
        }
        #expect(abs(looks - count / 256) <= 2)
        #expect(throws: LoadError.self) { try PNGFile(png(chunks: 100_000), WorkCancellation()) }
        #expect(throws: LoadError.self) { try PNGMetadata.read(png(chunks: 100_000), WorkCancellation()) }
    }

    @Test("Of a PNG's profiles and XMP packets the first is read alone")
    func firstOfEach() throws {
        func text(_ packet: String) -> [UInt8] {
            Array("XML:com.adobe.xmp".utf8) + [0, 0, 0, 0, 0] + Array(packet.utf8)
        }
        let file = PNGDecoderTests.File(
            width: 1, height: 1, color: 0,
            chunks: [("iCCP", [65, 0, 0, 1]), ("iCCP", [66, 0, 0, 2]), ("iTXt", text("one")), ("iTXt", text("two"))],
            rows: [[0, 1]])
        let metadata = try PNGMetadata.read(file.bytes, WorkCancellation())
        #expect(metadata.xmp == Array("one".utf8))
        #expect(metadata.profile.isEmpty)
    }

    private func webp(chunks: Int) throws -> [UInt8] {
        let file = try Pictures.bytes("good/webp-lossy.webp")
        let chunk = Array("JUNK".utf8) + little(0)
        let rest = file.dropFirst(12) + (0..<chunks).flatMap { _ in chunk }
        return Array("RIFF".utf8) + little(rest.count + 4) + Array("WEBP".utf8) + rest
    }

    @Test("A WebP's chunks are counted before libwebp makes a list of them", arguments: [1000, 10_000, 60_000])
    func webpChunks(_ count: Int) throws {
        #expect(try header(try webp(chunks: count), .webp).storedSize.width > 0)
        let error = try #require(throws: LoadError.self) { try header(try webp(chunks: 65_540 + count), .webp) }
        #expect(error.message.contains("chunks"))
    }

    @Test("Profiles are in the estimate, whatever the format")
    func profiles() throws {
        var formats: Set<ImageFormat> = []
        for (name, _) in try SampleImage.manifest("good") {
            let bytes = try Pictures.bytes("good/\(name)")
            guard let format = ImageCodecs.known.format(of: bytes),
                ImageCodecs.standard.codec(for: format)?.decoder != nil
            else {
                continue
            }
            var header = try header(bytes, format)
            guard header.hasProfile else { continue }
            let (estimate, length) = (header.decodingMemory(box: nil, frames: 1), header.profileBytes)
            header.profileBytes = 0
            #expect(length > 0, "\(name)")
            #expect(estimate == header.decodingMemory(box: nil, frames: 1) + 3 * length, "\(name)")
            formats.insert(format)
        }
        #expect(formats.isSuperset(of: [.jpeg, .png]), "\(formats)")
    }

    @Test("Lists of pieces and copies of coded bytes are in the estimate")
    func lists() throws {
        let plain = PNGDecoderTests.File(width: 3, height: 1, color: 0, rows: [[0, 1, 2, 3]]).bytes
        let empty = (0..<1000).flatMap { _ in PNGDecoderTests.File.chunk("IDAT", []) }
        let pieces = try header(plain.prefix(33) + empty + plain.dropFirst(33), .png).memory
        #expect(try pieces - header(plain, .png).memory == 2000 * MemoryLayout<PNGChunk>.stride)

        let webp = try header(try Pictures.bytes("good/webp-animated.webp"), .webp)
        #expect(webp.memory >= webp.storedSize.bytes(12) + 128 * webp.frames)

        var sequence = try Pictures.bytes("generated/animated.avif")
        let few = try header(sequence, .avif)
        let sizes = try #require((0..<sequence.count).first { sequence[$0...].starts(with: Array("stsz".utf8)) })
        sequence.replaceSubrange(sizes + 8..<sizes + 16, with: big(1) + big(4000))
        let many = try header(sequence, .avif)
        #expect(many.frames == 4000)
        #expect(many.memory - few.memory == 512 * (4000 - few.frames))

        var still = HEIFFixture.single(try .av1())
        let short = try header(still.bytes, .avif).memory
        still.items[0].data += [UInt8](repeating: 0, count: 10_000)
        #expect(try header(still.bytes, .avif).memory - short == 10_000)
    }

    @Test("A TIFF with more tags than any honest one is refused before libtiff", arguments: [true, false])
    func tiffTags(_ isBig: Bool) throws {
        func message(_ count: Int) throws -> String {
            let entries = (0..<count).flatMap {
                little(40_000 + $0, 2) + little(3, 2) + little(1, isBig ? 8 : 4) + little(7, isBig ? 8 : 4)
            }
            let start =
                isBig ? little(43, 2) + little(8, 2) + little(0, 2) + little(16, 8) : little(42, 2) + little(8, 4)
            let file = Array("II".utf8) + start + little(count, isBig ? 8 : 2) + entries + little(0, isBig ? 8 : 4)
            return try #require(throws: LoadError.self) { try header(file, .tiff) }.message
        }
        #expect(try message(513).contains("512 tags"))
        #expect(try !message(512).contains("512 tags"))
        #expect(try message(4000).contains("512 tags"))
    }

    @Test("A HEIF with more items than any honest one is refused", arguments: [5000, 10_000])
    func heifItems(_ count: Int) throws {
        var fixture = HEIFFixture.single(try .av1())
        for _ in 0..<count { fixture.item("Exif", [0]) }
        if count <= 5000 {
            #expect(try header(fixture.bytes, .avif).storedSize.width == 403)
        } else {
            let error = try #require(throws: LoadError.self) { try header(fixture.bytes, .avif) }
            #expect(error.message.contains("too many parts"))
        }
    }

    @Test("A GIF's blocks are looked at by the thousand", arguments: [10_000, 20_000, 40_000])
    func gifBlocks(_ count: Int) throws {
        let file = try Pictures.bytes("good/gif-animated.gif")
        let start = 13 + (file[10] & 0x80 == 0 ? 0 : 3 * (2 << Int(file[10] & 7)))
        let blocks = (0..<count).flatMap { _ in [0x21, 0xfe, 1, 65, 0] as [UInt8] }
        let many = Array(file[..<start]) + blocks + file[start...]
        let (looks, _) = try ImpatientClock.looks(patience: .max) { cancellation in
            try many.withUnsafeBufferPointer { _ = try GIFFile($0, limit: 1, cancellation: cancellation) }
        }
        #expect(looks <= count / 4096 + 3)
    }

    @Test(
        "A WebP that is cut off within its header is damaged",
        arguments: ["webp-lossy", "webp-lossless", "webp-animated"])
    func cutWebP(_ name: String) async throws {
        let file = try Pictures.bytes("good/\(name).webp")
        for length in 12..<25 {
            let error = try #require(throws: LoadError.self) { try header(Array(file.prefix(length)), .webp) }
            #expect(error.code == .undecodable)
        }
    }

    // MARK: Colours and texts

    @Test("Colours that once met in one slot of the histogram spread as others do", arguments: [1000, 2000, 4000])
    func colors(_ count: Int) throws {
        // The keys of opaque colours whose product with the golden ratio begins alike.
        let slots = 2 << (Int.bitWidth - (32_768 - 1).leadingZeroBitCount)
        var pixels: [UInt8] = []
        var color: UInt32 = 0
        while pixels.count < 3 * count, color < 1 << 24 {
            let key = color | 0xff00_0000
            if Int((key &* 0x9e37_79b1) >> 7) & (slots - 1) < 64 * count / 1000 * 8 {
                pixels += [
                    UInt8(truncatingIfNeeded: key), UInt8(truncatingIfNeeded: key >> 8),
                    UInt8(truncatingIfNeeded: key >> 16),
                ]
            }
            color += 1
        }
        let histogram = try #require(cpalette_histogram_new(32_768))
        defer { cpalette_histogram_free(histogram) }
        let format = cpalette_format(channels: 3, threshold: 0)
        pixels.withUnsafeBufferPointer { pixels in
            guard let start = pixels.baseAddress else { return }
            cpalette_histogram_add(histogram, start, nil, pixels.count / 3, format)
        }
        let found = cpalette_histogram_count(histogram)
        #expect(found == pixels.count / 3)
        #expect(cpalette_histogram_probes(histogram) < 2 * UInt64(found))
    }

    @Test("XMP's orientation is found anywhere, at any length", arguments: [100, 10_000, 1_000_000])
    func xmp(_ length: Int) {
        let padding = [UInt8](repeating: UInt8(ascii: "t"), count: length)
        let corrected = XMPRewriting.corrected(padding + Array("tiff:Orientation=\"6\"".utf8) + padding)
        #expect(corrected.count == 2 * length + 20)
        #expect(corrected[length + 18] == UInt8(ascii: "1"))
        #expect(XMPRewriting.corrected(padding + Array("http://ns.adobe.com/hdr-gain-map/".utf8)).isEmpty)
    }

    @Test("No more of an EXIF text is kept than a text may have", arguments: [100, 10_000, 1_000_000])
    func texts(_ length: Int) {
        let text = [UInt8](repeating: UInt8(ascii: "x"), count: length)
        let block = EXIFBlock(EXIFRewriting.composed(of: [(EXIFBlock.Tag.model, text)]))
        #expect(block?.camera?.utf8.count == min(length, 1000))
    }

    @Test("A camera's name counts whatever the type that it is said to have", arguments: [2, 7, 1, 0, 129])
    func undefinedType(_ type: UInt8) {
        var block = EXIFRewriting.composed(of: [(EXIFBlock.Tag.model, Array("Camera".utf8))])
        block[13] = type
        #expect(EXIFBlock(block)?.camera == "Camera")
    }

    // MARK: Time

    @Test("A transform and an encoder stop when the time that the list allows is over")
    func laterStages() async throws {
        let bytes = try Pictures.bytes("good/photo-12mp-baseline-420.jpg")
        let cases: [(String, Chain)] = [
            ("blur", Chain([Blur(sigma: 2)])), ("jpeg", Chain([Encode(.jpeg)])), ("png", Chain([Encode(.png)])),
            ("gif", Chain([Encode(.gif)])),
        ]
        for (name, stages) in cases {
            // The decode alone, and then with something behind it.
            let decode = Decode(limits: ImageLimits(time: .seconds(1)))
            let alone = ImpatientClock(patience: .max)
            try await run(bytes, Chain([decode]), alone)
            let clock = ImpatientClock(patience: alone.looks + 30)
            do {
                try await run(bytes, Chain([decode] + stages.stages), clock)
                Issue.record("\(name) went on")
            } catch let error as LoadError {
                #expect(error.code == .tooMuchTime, "\(name)")
            }
        }
    }

    private func run(_ bytes: [UInt8], _ chain: Chain, _ clock: ImpatientClock) async throws {
        _ = try await ImagePipeline(validating: Chain([ReadInline()] + chain.stages), clock: clock)
            .load(ImageRequest(.bytes(bytes)))
    }

    @Test("Metadata stops when the time is over")
    func metadata() async throws {
        let file = png(chunks: 90_000)
        let error = try await #require(throws: LoadError.self) {
            try await ImageMetadata(
                of: file, limits: ImageLimits(time: .seconds(1)), clock: ImpatientClock(patience: 100))
        }
        #expect(error.code == .tooMuchTime)
    }
}

/// Tells what a `Decode` would take.
private struct Estimate: Stage {
    let accepts: Phases = .original
    let produces: Phases = .original
    let report: @Sendable (Int?) -> Void

    func run(_ load: inout Load) async throws -> Outcome {
        report(await Decode().estimatedMemory(of: &load)?.peak)
        return .done
    }
}
