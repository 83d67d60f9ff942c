import Foundation
import Pipeline
import PipelineTesting
import Testing

@testable import PipelineImages

/// Expected pixels are those of the formats' own reference decoders, blurhash and thumbhash.
@Suite("Placeholders drawn from hashes")
struct PlaceholderTests {
    private static let thumbHashes = ["3+gFPYpTO2eh2HqjQGlkd/3cbqC8", "YfqBKwYYG+IaIJePyQvaufpk1gBWgXc="]
    private static let blurHashes = ["LUHe]%opPZq3n1=We2Lb#NjO1NVY", "00He]%"]

    private func expect(
        _ image: DecodedImage, has expected: [(x: Int, y: Int, color: [UInt8])]
    ) throws {
        let channels = image.layout.channelCount
        try image.withPixels { pixels in
            for (x, y, color) in expected {
                let start = channels * (y * image.width + x)
                for (found, wanted) in zip(pixels[start..<start + channels], color) {
                    #expect(abs(Int(found) - Int(wanted)) <= 1, "\(x),\(y): \(found), not \(wanted)")
                }
            }
        }
    }

    @Test("A BlurHash has the pixels of the reference")
    func blurHash() throws {
        let waves = try DecodedImage(blurHash: Self.blurHashes[0], size: PixelSize(width: 20, height: 14))
        #expect(waves.layout == .rgb)
        try expect(
            waves,
            has: [
                (0, 0, [130, 202, 0]), (19, 0, [88, 13, 64]), (10, 7, [92, 128, 195]), (2, 13, [101, 184, 0]),
                (19, 13, [126, 193, 52]),
            ])
        let plain = try DecodedImage(blurHash: Self.blurHashes[1], size: PixelSize(width: 3, height: 2))
        try expect(plain, has: [(0, 0, [152, 159, 135]), (2, 1, [152, 159, 135])])
        try expect(
            try DecodedImage(blurHash: "LEHV6nWB2yk8pyo0adR*.7kCMdnj", size: 32),
            has: [
                (0, 0, [135, 164, 177]), (31, 0, [137, 166, 181]), (16, 16, [158, 125, 108]), (2, 31, [137, 144, 146]),
            ])
    }

    @Test("A ThumbHash has the size and the pixels of the reference, with transparency and without")
    func thumbHash() throws {
        let waves = try DecodedImage(thumbHash: Self.thumbHashes[0])
        #expect(waves.size == PixelSize(width: 32, height: 23) && waves.layout == .rgb)
        try expect(
            waves,
            has: [
                (0, 0, [172, 174, 0]), (31, 0, [78, 121, 1]), (16, 11, [89, 74, 188]), (3, 21, [98, 181, 41]),
                (31, 22, [144, 160, 35]),
            ])
        let clear = try DecodedImage(thumbHash: Self.thumbHashes[1])
        #expect(clear.size == PixelSize(width: 19, height: 32) && clear.layout == .rgba)
        try expect(
            clear,
            has: [
                (0, 0, [207, 189, 4, 61]), (18, 0, [178, 111, 111, 113]), (9, 16, [135, 165, 101, 69]),
                (3, 30, [150, 189, 62, 131]), (18, 31, [175, 141, 85, 168]),
            ])
        let sized = try DecodedImage(thumbHash: Self.thumbHashes[0], size: PixelSize(width: 8, height: 6))
        #expect(sized.size == PixelSize(width: 8, height: 6))
    }

    @Test("A ThumbHash has the picture's aspect ratio, as far as it tells it", arguments: [PixelLayout.rgb, .rgba])
    func aspectRatio(_ layout: PixelLayout) async throws {
        let longest = layout == .rgba ? 5 : 7
        for shortest in 1...longest {
            let short = Int((32 * Double(shortest) / Double(longest)).rounded())
            for isLandscape in [true, false] {
                func size(_ long: Int, _ short: Int) -> PixelSize {
                    PixelSize(width: isLandscape ? long : short, height: isLandscape ? short : long)
                }
                let stored = size(10 * longest, 10 * shortest)
                let pixels = [UInt8](repeating: 100, count: stored.width * stored.height * layout.channelCount)
                let picture = DecodedImage(size: stored, layout: layout, pixels: pixels)
                #expect(try DecodedImage(thumbHash: await picture.thumbHash()).size == size(32, short))
            }
        }
    }

    @Test("A ThumbHash whose shorter side is longer than the longer one, or nothing, is an error")
    func impossibleAspectRatio() throws {
        for (hash, impossible) in zip(Self.thumbHashes, [[0], [0, 6, 7]] as [[UInt8]]) {
            for shortest in impossible {
                var bytes = [UInt8](try #require(Data(base64Encoded: hash)))
                bytes[3] = bytes[3] & ~7 | shortest
                for count in 6...60 {
                    let bytes = Array((bytes + [UInt8](repeating: 0, count: 60)).prefix(count))
                    expectError { try DecodedImage(thumbHash: bytes) }
                }
            }
        }
    }

    @Test("A smooth picture survives both hashes")
    func roundTrip() async throws {
        let size = PixelSize(width: 32, height: 24)
        var pixels: [UInt8] = []
        for y in 0..<size.height {
            for x in 0..<size.width { pixels += [UInt8(40 + 5 * x), UInt8(200 - 4 * y), UInt8(90 + x + y)] }
        }
        let picture = DecodedImage(size: size, layout: .rgb, pixels: pixels)
        let drawn = [
            try DecodedImage(blurHash: await picture.blurHash(columns: 9, rows: 9), size: size),
            try DecodedImage(thumbHash: await picture.thumbHash(), size: size),
            try DecodedImage(thumbHash: Data(await picture.thumbHash()).base64EncodedString(), size: size),
        ]
        for image in drawn {
            let errors = try image.withPixels { found in zip(found, pixels).map { abs(Int($0) - Int($1)) } }
            #expect(errors.reduce(0, +) / errors.count <= 12)
        }
    }

    @Test("Every cut, longer or altered BlurHash is a picture or an error that says why")
    func damagedBlurHash() throws {
        for hash in Self.blurHashes {
            for count in 0..<hash.count {
                expectError { try DecodedImage(blurHash: String(hash.prefix(count)), size: 4) }
            }
            expectError { try DecodedImage(blurHash: hash + "0", size: 4) }
            for index in hash.indices {
                for character in "~z0\\ é\u{0}" {
                    var other = hash
                    other.replaceSubrange(index...index, with: [character])
                    _ = try? DecodedImage(blurHash: other, size: 4)
                }
            }
        }
        expectError { try DecodedImage(blurHash: String(repeating: "~", count: 1 << 20), size: 4) }
        expectError { try DecodedImage(blurHash: "00~~~~", size: 4) }
        expectError { try DecodedImage(blurHash: "10~~~~", size: 4) }
    }

    @Test("Every cut, longer or altered ThumbHash is a picture or an error that says why")
    func damagedThumbHash() throws {
        var random = SeededGenerator(seed: 7)
        for hash in Self.thumbHashes {
            let bytes = [UInt8](try #require(Data(base64Encoded: hash)))
            for count in 0..<bytes.count { expectError { try DecodedImage(thumbHash: Array(bytes.prefix(count))) } }
            expectError { try DecodedImage(thumbHash: bytes + [0]) }
            expectError { try DecodedImage(thumbHash: String(hash.dropLast())) }
            expectError { try DecodedImage(thumbHash: "?" + hash) }
            for _ in 0..<2000 {
                var other = bytes
                for _ in 0...Int.random(in: 0..<4, using: &random) {
                    other[Int.random(in: other.indices, using: &random)] = .random(in: 0...255, using: &random)
                }
                _ = try? DecodedImage(thumbHash: other, size: 2)
                _ = try? DecodedImage(thumbHash: Array(other.prefix(Int.random(in: 0...30, using: &random))), size: 2)
            }
        }
        for number in 0..<65536 {
            let start: [UInt8] = [0, 0, UInt8(number & 0x80), UInt8(number & 255), UInt8(number >> 8)]
            _ = try? DecodedImage(thumbHash: start + [UInt8](repeating: 9, count: 14 + number % 8), size: 1)
        }
    }

    @Test(
        "A size that comes with the hash can't take much memory",
        arguments: [
            PixelSize(width: 0, height: 3), PixelSize(width: 1001, height: 1), PixelSize(width: -4, height: -4),
            PixelSize(width: .max, height: .max),
        ])
    func sizes(_ size: PixelSize) {
        for make in [
            { try DecodedImage(blurHash: Self.blurHashes[0], size: size) },
            { try DecodedImage(thumbHash: Self.thumbHashes[0], size: size) },
        ] {
            let error = #expect(throws: LoadError.self, performing: make)
            #expect(error?.code == .tooManyPixels)
        }
    }

    private func expectError(_ body: () throws -> DecodedImage) {
        let error = #expect(throws: LoadError.self) { try body() }
        #expect(error?.code == .undecodable)
        #expect(error?.message.contains("Hash: ") == true)
    }
}
