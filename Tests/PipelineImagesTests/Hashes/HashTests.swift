import Foundation
import Pipeline
import TestFixtures
import Testing

@testable import PipelineImages

/// Expected values are those of the packages thumbhash, blurhash, ImageHash and NumPy from PyPI for the same pixels.
@Suite("Hashes of pictures")
struct HashTests {
    /// Up and down between 0 and 255.
    private static func wave(_ number: Int) -> UInt8 {
        let rest = number % 510
        return UInt8(rest < 256 ? rest : 510 - rest)
    }

    private static func picture(
        _ width: Int, _ height: Int, _ layout: PixelLayout, _ color: (_ x: Int, _ y: Int) -> [UInt8]
    ) -> DecodedImage {
        let pixels = (0..<height).flatMap { y in (0..<width).flatMap { x in color(x, y) } }
        return DecodedImage(size: PixelSize(width: width, height: height), layout: layout, pixels: pixels)
    }

    private static let waves = picture(90, 64, .rgb) { x, y in
        [wave(x * 5 + y * 9), wave(x * 9 - y * 4 + 800), wave(x * y / 8)]
    }

    @Test("ThumbHash, with transparency and without")
    func thumbHash() async throws {
        #expect(Data(try await Self.waves.thumbHash()).base64EncodedString() == "3+gFPYpTO2eh2HqjQGlkd/3cbqC8")
        let portrait = Self.picture(30, 50, .rgba) { x, y in
            [
                Self.wave(x * 15 + y * 9), Self.wave(x * 9 - y * 4 + 800), Self.wave(x * y / 2),
                Self.wave(x * 20 + y * 7),
            ]
        }
        #expect(
            Data(try await portrait.thumbHash()).base64EncodedString() == "YfqBKwYYG+IaIJePyQvaufpk1gBWgXc=")
        let clear = Self.picture(3, 2, .rgba) { _, _ in [9, 9, 9, 0] }
        #expect(try await clear.thumbHash().count > 5)
    }

    @Test(
        "BlurHash with any number of waves",
        arguments: [
            (4, 3, "LUHe]%opPZq3n1=We2Lb#NjO1NVY"), (1, 1, "00He]%"),
            (
                9, 9,
                "|UHe]%opPZq3mbnnaMoJjGn1=We2Lbl0WBl2aij[#NjO1NVYkpaPXRc7a{oH6SWRsFair?a2oLa$R:awe@e?$ejbj]jbj=ogWUWY#,jbWYjFbFjun%a{r^jrbbjYSea$bHocWrWno2jbS2a$j?a{axa}jZj]W-a}j@fPoL"
            ),
        ])
    func blurHash(columns: Int, rows: Int, expected: String) async throws {
        #expect(try await Self.waves.blurHash(columns: columns, rows: rows) == expected)
    }

    @Test("A difference hash, and its likeness for a copy of another size")
    func differenceHash() async throws {
        let hash = try await Self.waves.differenceHash()
        #expect(hash == 0x3838_1c1c_9e8e_cec6)
        let tiny = Self.picture(5, 3, .rgb) { x, y in
            [Self.wave(x * 97 + y * 31), Self.wave(x * 59 - y * 4 + 800), Self.wave(x * y * 70)]
        }
        #expect(try await tiny.differenceHash() == 0x0000_0020_e0e0_e0e0)
        let copy = try await Resize(PixelSize(width: 47, height: 33), fit: .fill).apply(Self.waves)
        #expect((try await copy.differenceHash() ^ hash).nonzeroBitCount <= 6)
        let gray = Self.picture(1, 1, .gray) { _, _ in [7] }
        #expect(try await gray.differenceHash() == 0)
    }

    @Test(
        "Hashes of files, whole or reduced, are those that imagehash.dhash makes of them",
        arguments: [
            ("bmp-rgb24.bmp", 0xa5a4_a5a7_ada4_ad9d), ("jpeg-greyscale.jpg", 0x9191_cc64_658d_cdcd),
            ("jpeg-progressive-444.jpg", 0xf9d1_22ec_ccdb_f3c3), ("tiff-deflate-strip.tif", 0xf1b3_2c14_1239_6131),
            ("webp-lossy.webp", 0xf1b3_2c14_1239_6131), ("png-tbbn3p08.png", 0x0c0f_2153_3337_864d),
            ("photo-12mp-baseline-420.jpg", 0xf9d1_22ec_ccdb_e3c3),
        ] as [(String, UInt64)])
    func differenceHashes(_ name: String, _ expected: UInt64) async throws {
        let bytes = try Pictures.bytes("good/\(name)")
        for box: PixelSize? in [256, nil] {
            let image = try await SampleImage.decode(bytes, maxPixelSize: box)
            let hash = try await image.differenceHash()
            #expect((hash ^ expected).nonzeroBitCount <= 2, "\(String(hash, radix: 16))")
        }
    }

    @Test("Dominant colours are the means of what they stand for, the most frequent first")
    func dominantColors() async throws {
        let flag = Self.picture(10, 10, .rgba) { x, y in
            x < 2 ? [0, 0, 0, 10] : x < 8 ? [200, 10, 10, 255] : [10, 10, 200, 255]
        }
        let colors = try await flag.dominantColors()
        #expect(colors.map(\.color.description) == ["#c80a0a", "#0a0ac8"])
        #expect(colors.map(\.share) == [0.75, 0.25])
        #expect(try await Self.waves.dominantColors(3).count == 3)
        #expect(try await Self.picture(2, 2, .rgba) { _, _ in [1, 2, 3, 0] }.dominantColors().isEmpty)
        let gray = try await Self.picture(4, 4, .gray) { x, _ in [UInt8(x / 2 * 255)] }.dominantColors()
        #expect(Set(gray.map(\.color)) == [.white, .black])
    }
}
