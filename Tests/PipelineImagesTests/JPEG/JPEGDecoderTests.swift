import CImages
import Foundation
import Pipeline
import TestFixtures
import Testing

@testable import PipelineImages

@Suite("JPEG is decoded no larger than need be, and stops when it is told")
struct JPEGDecoderTests {
    private let photograph = "good/photo-12mp-baseline-420.jpg"
    private let progressive = "good/jpeg-progressive-444.jpg"

    private func decibels(_ one: DecodedImage, _ other: DecodedImage) -> Double {
        guard one.size == other.size else { return 0 }
        var sum = 0
        for (value, wanted) in zip(one.pixels, other.pixels) {
            let difference = Int(value) - Int(wanted)
            sum += difference * difference
        }
        return 10 * log10(255 * 255 * Double(one.pixels.count) / Double(max(1, sum)))
    }

    @Test("A thumbnail keeps its quality's promise of decibels against a full decode by the kernel alone")
    func decibels() async throws {
        let bytes = try Pictures.bytes(photograph)
        let full = try await SampleImage.decode(bytes)
        for (side, quality, promised) in [(300, DecodeQuality.quality, 54.0), (300, .fast, 46)] {
            let target = full.size.fitted(into: PixelSize(square: side))
            // On a thread that may block: the tests of other suites share this one.
            let best = try await BlockingThreads.decoding.run { cancellation in
                try full.pixels.withUnsafeBufferPointer {
                    DecodedImage(
                        size: target, layout: .rgb,
                        pixels: try Resampler.scaled(
                            try #require($0.baseAddress), ResamplePlan(from: full.size, to: target, reserve: 1e9),
                            layout: .rgb, cancellation: cancellation))
                }
            }
            let quick = try await SampleImage.decode(
                bytes, maxPixelSize: PixelSize(square: side), with: Decode(quality: quality))
            #expect(decibels(quick, best) >= promised, "\(quality) at \(side)")
        }
    }

    @Test(
        "The scale leaves each quality's reserve to the kernel, and no more than twice that",
        arguments: [
            (300, DecodeQuality.quality, 2), (300, .fast, 1), (250, .quality, 1), (1000, .quality, 4),
            (1500, .quality, 8), (1000, .fast, 4), (4000, .fast, 8), (10, .quality, 1),
        ])
    func scale(_ side: Int, _ quality: DecodeQuality, _ eighths: Int) {
        let header = ImageHeader(format: .jpeg, storedSize: PixelSize(width: 4032, height: 2976))
        let scale = JPEGScale(header: header, box: PixelSize(square: side), quality: quality)
        #expect(scale.eighths == eighths)
        #expect(scale.target == header.storedSize.fitted(into: PixelSize(square: side)))
    }

    @Test("Decode alone gives the exact size, so that Downscale has nothing to do")
    func exact() async throws {
        let box = PixelSize(width: 90, height: 21)
        for name in ["exif-orientation-6.jpg", "jpeg-greyscale.jpg", "jpeg-progressive-444.jpg"] {
            let bytes = try Pictures.bytes("good/\(name)")
            let response = try await SampleImage.load(bytes, maxPixelSize: box) {
                Decode()
                Downscale()
            }
            #expect(response.image?.size == response.image?.nativeSize.fitted(into: box))
            #expect(response.trace.entries.last?.outcome == .skipped)
        }
    }

    @Test("A size that is not a multiple of the scale is not shifted by the pixels that libjpeg adds")
    func partialBlocks() async throws {
        // A ramp 1001 pixels wide: at 1/8 libjpeg gives 126 pixels, of which the last is one eighth of a pixel.
        let width = 1001
        let ramp = (0..<width * 64).map { UInt8($0 % width * 255 / (width - 1)) }
        let image = DecodedImage(size: PixelSize(width: width, height: 64), layout: .gray, pixels: ramp)
        let bytes = try #require(
            try await SampleImage.process(image) { Encode(.jpeg, quality: 100) }.encoded?.bytes)
        let small = try await SampleImage.decode(bytes, maxPixelSize: 50)
        let row = small.pixels[small.width..<2 * small.width]
        for (column, value) in row.enumerated().dropFirst(4).dropLast(4) {
            let expected = (Double(column) + 0.5) * 255 / 50
            #expect(abs(Double(value) - expected) < 1.5)
        }
    }

    @Test("What lacks nothing but the mark of its end is whole")
    func missingEnd() async throws {
        let bytes = try Pictures.bytes(photograph)
        let image = try await SampleImage.decode(Array(bytes.dropLast(2)), maxPixelSize: 100)
        #expect(image.pixels == (try await SampleImage.decode(bytes, maxPixelSize: 100)).pixels)
    }

    @Test("A file with several scans that ends between two of them is cut off")
    func cutBetweenScans() async throws {
        let bytes = try Pictures.bytes(progressive)
        let scans = bytes.indices.dropLast().filter { bytes[$0] == 0xff && bytes[$0 + 1] == 0xda }
        #expect(scans.count > 3)
        let cut = Array(bytes[..<scans[2]])
        let error = try await #require(throws: LoadError.self) { try await SampleImage.decode(cut) }
        #expect(error.code == .undecodable)
        #expect(error.message.contains("cut off"))
        let coarse = try await SampleImage.decode(cut, with: Decode(allowTruncated: true))
        #expect(coarse.difference(from: try await SampleImage.decode(bytes)) < 20)
    }

    @Test("A file with more scans than any honest one is refused")
    func scanBomb() async throws {
        let bytes = try Pictures.bytes(progressive)
        let scans = bytes.indices.dropLast().filter { bytes[$0] == 0xff && bytes[$0 + 1] == 0xda }
        let scan = bytes[scans[0]..<scans[1]]
        var bomb = Array(bytes[..<scans[0]])
        for _ in 0..<120 { bomb += scan }
        bomb += bytes[scans[0]...]
        let bytesOfBomb = bomb
        let error = try await #require(throws: LoadError.self) { try await SampleImage.decode(bytesOfBomb) }
        #expect(error.code == .undecodable)
        #expect(error.message.contains("scans"))
    }

    @Test(
        "Scans may go through the picture as often as an honest file's do, and not much more", arguments: [4, 16, 64])
    func scansByBlocks(_ copies: Int) async throws {
        // 1,536 × 1,536 pixels in three components without subsampling: 110,592 blocks.
        let pixels = [UInt8](repeating: 128, count: 1536 * 1536 * 3)
        let image = DecodedImage(size: 1536, layout: .rgb, pixels: pixels)
        var options = EncodeOptions()
        options.jpeg.progressive = true
        options.jpeg.chroma = .full
        let encode = Encode(.jpeg, options: options)
        let bytes = try #require(try await SampleImage.process(image) { encode }.encoded?.bytes)
        let scans = bytes.indices.dropLast().filter { bytes[$0] == 0xff && bytes[$0 + 1] == 0xda }
        // The first scan is of all components' means; it can be repeated.
        let scan = bytes[scans[0]..<scans[1]]
        let repeated = bytes[..<scans[0]] + (0..<copies).flatMap { _ in scan } + bytes[scans[0]...]
        let decode = { try await SampleImage.decode(Array(repeated), maxPixelSize: 100) }
        guard copies > 12 else {
            _ = try await decode()
            return
        }
        let error = try await #require(throws: LoadError.self) { _ = try await decode() }
        #expect(error.message.contains("more than 16 times"))
    }

    @Test("Bytes between segments, and what follows a picture that lacks nothing, cost no picture and no metadata")
    func strayBytes() async throws {
        let bytes = try Pictures.bytes("good/jpeg-exif-xmp-icc.jpg")
        let expected = try await SampleImage.decode(bytes)
        let first = 4 + Int(bytes[4]) * 256 + Int(bytes[5])
        for stray in [[0, 0, 9], [0xff], [0xff, 0], [0xff, 2, 7]] as [[UInt8]] {
            let file = Array(bytes[..<first]) + stray + Array(bytes[first...])
            #expect(try await SampleImage.decode(file).pixels == expected.pixels)
            let metadata = try await ImageMetadata(of: file)
            #expect(metadata.camera != nil)
            #expect(metadata.profile != nil)
        }
        let several = try Pictures.bytes(progressive)
        let whole = try await SampleImage.decode(several)
        for second in [[0xff, 0xd8, 0xff, 0xe1, 0, 1], [0xff, 0xd8, 0xff, 0xd8]] as [[UInt8]] {
            // Without the end of the first picture and with it.
            for first in [Array(several.dropLast(2)), several] {
                #expect(try await SampleImage.decode(first + second).pixels == whole.pixels)
            }
        }
    }

    @Test(
        "Kinds of JPEG that aren't read are called so, not damaged",
        arguments: [
            (0xc3, 8, "lossless"), (0xc5, 8, "hierarchical"), (0xcb, 8, "lossless"), (0xf7, 8, "JPEG-LS"),
            (0xc0, 12, "12 bits a sample"), (0xc1, 16, "16 bits a sample"),
        ])
    func kinds(_ marker: Int, _ bits: Int, _ name: String) async throws {
        var bytes = try Pictures.bytes("good/jpeg-greyscale.jpg")
        let frame = try #require(bytes.indices.dropLast().first { bytes[$0] == 0xff && bytes[$0 + 1] == 0xc0 })
        bytes[frame + 1] = UInt8(marker)
        bytes[frame + 4] = UInt8(bits)
        let file = bytes
        let error = try await #require(throws: LoadError.self) { try await SampleImage.decode(file) }
        #expect(error.code == .unsupportedType)
        #expect(error.message.contains("is not supported (\(name))"), "\(error.message)")
    }

    @Test("Inks are scaled as they are, and become colours at the end")
    func inks() async throws {
        let bytes = try Pictures.bytes("good/jpeg-cmyk-icc.jpg")
        let full = try await SampleImage.decode(bytes)
        let small = try await SampleImage.decode(bytes, maxPixelSize: 40)
        for (one, other) in zip(full.means, small.means) { #expect(abs(one - other) < 3) }
        // Without a profile: what all four let through.
        let mixed = try InkPixels([0, 0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 255, 0, 128, 0, 128], size: 2, profile: [])
            .colors(WorkCancellation())
        #expect(mixed == [255, 255, 255, 0, 255, 255, 0, 0, 0, 127, 63, 127])
        let unusable = try InkPixels([0, 0, 0, 0], size: 1, profile: [UInt8](repeating: 1, count: 200))
            .colors(WorkCancellation())
        #expect(unusable == [255, 255, 255])
    }

    @Test("The header tells that several scans need the whole picture's coefficients")
    func memory() throws {
        let decoder = JPEGDecoder()
        let cancellation = WorkCancellation()
        let whole = try decoder.header(
            of: try Pictures.bytes(progressive), cancellation: cancellation)
        // Three components without subsampling, two bytes each.
        let size = whole.storedSize
        #expect(whole.memory >= size.width * size.height * 6)
        #expect(whole.memory < (size.width + 16) * (size.height + 16) * 6)
        let strips = try decoder.header(
            of: try Pictures.bytes(photograph), cancellation: cancellation)
        #expect(strips.memory == 0)
    }

    @Test("A JPEG of RGB, a grey one and one with four inks have the layout that fits them")
    func layouts() async throws {
        #expect(try await SampleImage.decode(try Pictures.bytes("good/jpeg-greyscale.jpg")).layout == .gray)
        #expect(try await SampleImage.decode(try Pictures.bytes("good/jpeg-cmyk-icc.jpg")).layout == .rgb)
        #expect(try await SampleImage.decode(try Pictures.bytes(progressive)).layout == .rgb)
    }

    @Test("The quality is in the signature and in the printed list where it is not the default")
    func signature() {
        #expect(Decode().signature != Decode(quality: .fast).signature)
        #expect(Decode(quality: .fast).parameters == "fast")
        #expect(Decode().parameters.isEmpty)
    }

    @Test(
        "libjpeg is asked at every row of blocks whether to go on, also of scans that give no pixels yet",
        arguments: ["good/photo-12mp-baseline-420.jpg", "good/jpeg-progressive-444.jpg"])
    func stops(_ name: String) throws {
        let bytes = try Pictures.bytes(name)
        let patience = Patience(20)
        let watch = cjpeg_cancellation(
            is_cancelled: { Unmanaged<Patience>.fromOpaque($0).takeUnretainedValue().isOver() },
            context: Unmanaged.passUnretained(patience).toOpaque())
        try withExtendedLifetime(patience) {
            try bytes.withUnsafeBufferPointer { bytes in
                var (header, failure) = (cjpeg_header(), cjpeg_failure())
                let start = try #require(bytes.baseAddress)
                let file = try #require(cjpeg_open(start, bytes.count, false, watch, &header, &failure))
                defer { cjpeg_close(file) }
                var (width, height) = (Int32(0), Int32(0))
                var pixels = [UInt8](repeating: 0, count: Int(header.width * header.height) * 3)
                let read =
                    cjpeg_start(file, 8, &width, &height, &failure)
                    ? cjpeg_read(file, &pixels, height, &failure) : -1
                #expect(read == -1)
            }
        }
        #expect(patience.questions == 20)
    }
}

/// Says "go on" this many times.
///
/// Unchecked, and safe: libjpeg asks on the thread that called it, which is the test's.
private final class Patience: @unchecked Sendable {
    private let limit: Int
    private(set) var questions = 0

    init(_ limit: Int) { self.limit = limit }

    func isOver() -> Bool {
        questions += 1
        return questions >= limit
    }
}
