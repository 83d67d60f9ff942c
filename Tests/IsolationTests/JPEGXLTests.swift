import Foundation
import Pipeline
import PipelineImages
import PipelineIsolation
import TestFixtures
import Testing

/// `Scripts/jxl-samples` makes the files. Red rises to the right, green downwards, both from 0 to 1; blue is a quarter.
@Suite("JPEG XL of every kind", .onLinux)
struct JPEGXLTests {
    private func withCodecs<Result>(_ body: (ImageCodecs) async throws -> Result) async throws -> Result {
        let pool = try await Corpus.pool(workers: 1)
        let result = try await body(try ImageCodecs.standard.adding(.jxl).isolated(in: pool))
        await pool.close()
        return result
    }

    private func decoded(_ bytes: [UInt8], frames: Int = 1) async throws -> DecodedImage {
        try await withCodecs {
            try await DecodedImage(decoding: bytes, codecs: $0, limits: ImageLimits(frames: frames))
        }
    }

    private func generated(_ name: String) throws -> [UInt8] { try Pictures.bytes("generated/\(name).jxl") }

    /// Compares pixels of RGB with those of a formula, which gets red and green from 0 to 1.
    private func expect(_ image: DecodedImage, _ level: (_ value: Double) -> Double) throws {
        #expect(image.size == PixelSize(width: 32, height: 24))
        let pixels = try image.withPixels { Array($0) }
        try #require(pixels.count == 32 * 24 * 3)
        for index in 0..<32 * 24 {
            for (channel, value) in [Double(index % 32) / 31, Double(index / 32) / 23, 0.25].enumerated() {
                let found = Double(pixels[3 * index + channel])
                try #require(abs(found - 255 * level(value)) < 1, "\(found) for \(value)")
            }
        }
    }

    @Test("Floating-point samples range from 0 to 1")
    func float() async throws {
        try expect(try await decoded(generated("float"))) { $0 }
    }

    @Test("Linear light gets sRGB's curve before it is reduced to 8 bits, so dark tones stay apart")
    func linear() async throws {
        try expect(try await decoded(generated("linear"))) {
            $0 <= 0.0031308 ? 12.92 * $0 : 1.055 * pow($0, 1 / 2.4) - 0.055
        }
    }

    @Test("PQ is mapped to sRGB's tones as in a PNG of the same samples")
    func highRange() async throws {
        let bytes = try generated("pq")
        let image = try await decoded(bytes)
        let png = try await DecodedImage(decoding: Pictures.bytes("generated/pq.png"))
        let difference = zip(try image.withPixels { Array($0) }, try png.withPixels { Array($0) })
            .map { abs(Int($0) - Int($1)) }.max()
        #expect(image.size == png.size)
        #expect(difference == 0)
        let description = try await withCodecs { try await ImageMetadata(of: bytes, codecs: $0) }
        #expect(description.codedColors?.description == "BT.2020, PQ")
    }

    @Test("An animation has its frames, the first of which is the picture")
    func animation() async throws {
        let bytes = try generated("animated")
        let gif = try await DecodedImage(
            decoding: Pictures.bytes("good/gif-animated.gif"), limits: ImageLimits(frames: 100))
        let still = try await decoded(bytes)
        #expect(still.frames.count == 1)
        #expect(still.frames.first?.bytes == gif.frames.first?.bytes)
        let animation = try await decoded(bytes, frames: 100)
        #expect(animation.frames.map(\.bytes) == gif.frames.map(\.bytes))
        #expect(animation.frames.map(\.delay) == gif.frames.map(\.delay))
        let description = try await withCodecs { try await ImageMetadata(of: bytes, codecs: $0) }
        #expect(description.frames == gif.frames.count)
    }

    /// Boxes around a codestream, which may be in two parts.
    private static let signature: [UInt8] =
        [0, 0, 0, 12] + Array("JXL ".utf8) + [13, 10, 0x87, 10]
        + [0, 0, 0, 20] + Array("ftypjxl ".utf8) + [0, 0, 0, 0] + Array("jxl ".utf8)

    private static func bigEndian(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
    }

    @Test("Boxes have sizes of 32 or 64 bits or reach to the end, and the picture may be in parts")
    func containers() async throws {
        let stream = try Pictures.bytes("good/jxl.jxl")
        let picture = try await decoded(stream)
        let (first, rest) = (stream.prefix(5000), stream.dropFirst(5000))
        let part = Array("jxlp".utf8)
        let containers: [[UInt8]] = [
            Self.bigEndian(stream.count + 8, 4) + Array("jxlc".utf8) + stream,
            Self.bigEndian(1, 4) + Array("jxlc".utf8) + Self.bigEndian(stream.count + 16, 8) + stream,
            Self.bigEndian(0, 4) + Array("jxlc".utf8) + stream,
            Self.bigEndian(first.count + 12, 4) + part + Self.bigEndian(0, 4) + first
                + Self.bigEndian(1, 4) + part + Self.bigEndian(rest.count + 20, 8) + Self.bigEndian(1 << 31 | 1, 4)
                + rest,
        ]
        for container in containers {
            #expect(try await decoded(Self.signature + container) == picture)
        }
        let error = await #expect(throws: LoadError.self) {
            try await decoded(Self.signature + Self.bigEndian(rest.count + 12, 4) + part + Self.bigEndian(1, 4) + rest)
        }
        #expect(error?.message.contains("part 1 is missing") == true)
    }

    @Test("A truncated file is refused, or yields the part that can be read")
    func truncated() async throws {
        let bytes = Array(try Pictures.bytes("good/jxl.jxl").prefix(9000))
        let error = await #expect(throws: LoadError.self) { try await decoded(bytes) }
        #expect(error?.code == .undecodable)
        #expect(error?.message.contains("cut off") == true)
        try await withCodecs { codecs in
            let list = Chain {
                ReadInline()
                Decode(codecs: codecs, allowTruncated: true)
            }
            let image = try await ImagePipeline(validating: list).load(ImageRequest(.bytes(bytes))).image
            #expect(image?.size == PixelSize(width: 640, height: 472))
        }
    }
}
