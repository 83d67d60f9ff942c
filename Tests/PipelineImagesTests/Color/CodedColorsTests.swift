import Foundation
import Pipeline
import TestFixtures
import Testing

@testable import PipelineImages

/// Expected colours are calculated here, from the formulas and constants of ITU-R BT.2100, BT.2446 and BT.2087 and of
/// Display P3's definition.
@Suite("Colours described by numbers (CICP) become sRGB")
struct CodedColorsTests {
    private typealias PNG = PNGDecoderTests.File

    /// A PNG of one pixel.
    private static func png(
        _ color: [Int], depth: Int = 8, cicp: [UInt8]?, chunks: [(String, [UInt8])] = [], interlace: UInt8 = 0
    ) -> [UInt8] {
        let samples = color.flatMap { depth == 8 ? [UInt8($0)] : [UInt8($0 >> 8), UInt8($0 & 255)] }
        let type = [1: 0, 2: 4, 3: 2, 4: 6][color.count] ?? 2
        return PNG(
            width: 1, height: 1, depth: depth, color: type, interlace: interlace,
            chunks: (cicp.map { [("cICP", $0)] } ?? []) + chunks, rows: [[0] + samples]
        ).bytes
    }

    private static func expect(_ file: [UInt8], is expected: [Int], within tolerance: Int = 1) async throws {
        let found = try await SampleImage.decode(file).pixels.map { Int($0) }
        #expect(found.count == expected.count)
        for (found, expected) in zip(found, expected) {
            #expect(abs(found - expected) <= tolerance, "\(found), not \(expected)")
        }
    }

    private static func encoded(_ light: Double) -> Int {
        let light = min(1, max(0, light))
        return Int((255 * (light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055)).rounded())
    }

    private static func linear(_ value: Double) -> Double {
        value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }

    private static func product(_ matrix: [Double], _ color: [Double]) -> [Double] {
        (0..<3).map { row in (0..<3).reduce(0) { $0 + matrix[3 * row + $1] * color[$1] } }
    }

    private static let fromP3 = [1.22494, -0.22494, 0, -0.04206, 1.04206, 0, -0.01964, -0.07864, 1.09828]
    private static let from2020 = [1.6605, -0.5876, -0.0728, -0.1246, 1.1329, -0.0083, -0.0182, -0.1006, 1.1187]

    /// BT.2100's PQ, relative to 1000 cd/m².
    private static func pq(_ value: Double) -> Double {
        let root = pow(value, 32 / 2523.0)
        let light = pow(max(root - 3424 / 4096.0, 0) / (2413 / 128.0 - 2392 / 128.0 * root), 8192 / 1305.0)
        return min(1, 10 * light)
    }

    /// BT.2100's HLG on a display of 1000 cd/m², relative to that.
    private static func hlg(_ color: [Double]) -> [Double] {
        let scene = color.map { $0 <= 0.5 ? $0 * $0 / 3 : (exp(($0 - 0.55991073) / 0.17883277) + 0.28466892) / 12 }
        let luminance = 0.2627 * scene[0] + 0.6780 * scene[1] + 0.0593 * scene[2]
        return scene.map { $0 * pow(luminance, 0.2) }
    }

    /// BT.2446 method A for BT.2020 light relative to 1000 cd/m², then sRGB.
    private static func toned(_ light: [Double]) -> [Int] {
        let signal = light.map { pow($0, 1 / 2.4) }
        let luma = 0.2627 * signal[0] + 0.6780 * signal[1] + 0.0593 * signal[2]
        guard luma > 0 else { return [0, 0, 0] }
        let bright = 1 + 32 * pow(0.1, 1 / 2.4)
        let dark = 1 + 32 * pow(0.01, 1 / 2.4)
        let perceived = log(1 + (bright - 1) * luma) / log(bright)
        let compressed =
            perceived <= 0.7399
            ? 1.0770 * perceived
            : perceived < 0.9909
                ? -1.1510 * perceived * perceived + 2.7811 * perceived - 0.6302 : 0.5 * perceived + 0.5
        let mapped = (pow(dark, compressed) - 1) / (dark - 1)
        let scale = mapped / (1.1 * luma)
        let blue = scale * (signal[2] - luma) / 1.8814
        let red = scale * (signal[0] - luma) / 1.4746
        let toned = mapped - max(0.1 * red, 0)
        let narrow = [
            toned + 1.4746 * red, toned - 0.16455 * blue - 0.57135 * red, toned + 1.8814 * blue,
        ]
        return product(from2020, narrow.map { pow(min(1, max(0, $0)), 2.4) }).map(encoded)
    }

    @Test(
        "Display P3 in a PNG, by the matrix that an ICC profile would have",
        arguments: [[200, 60, 30], [127, 0, 0], [200, 0, 0], [10, 240, 90], [255, 255, 255], [0, 0, 0]])
    func displayP3(_ color: [Int]) async throws {
        let expected = Self.product(Self.fromP3, color.map { Self.linear(Double($0) / 255) }).map(Self.encoded)
        try await Self.expect(Self.png(color, cicp: [12, 13, 0, 1]), is: expected)
        try await Self.expect(Self.png(color, cicp: [12, 13, 0, 1], interlace: 1), is: expected)
        try await Self.expect(Self.png(color.map { $0 * 257 }, depth: 16, cicp: [12, 13, 0, 1]), is: expected)
        try await Self.expect(Self.png(color + [77], cicp: [12, 13, 0, 1]), is: expected + [77])
    }

    @Test("P3's red has the value that the same colour has by a profile")
    func knownValues() async throws {
        #expect(try await SampleImage.decode(Self.png([127, 0, 0], cicp: [12, 13, 0, 1])).pixels[0] == 139)
        #expect(try await SampleImage.decode(Self.png([200, 0, 0], cicp: [12, 13, 0, 1])).pixels[0] == 219)
    }

    @Test("Other curves, and the narrow range")
    func curves() async throws {
        let color = [30, 128, 230]
        let values = color.map { Double($0) / 255 }
        try await Self.expect(Self.png(color, cicp: [1, 8, 0, 1]), is: values.map(Self.encoded))
        try await Self.expect(Self.png(color, cicp: [1, 4, 0, 1]), is: values.map { Self.encoded(pow($0, 2.2)) })
        try await Self.expect(
            Self.png([16, 126, 235], cicp: [1, 13, 0, 0]), is: [0, Int((110.0 / 219 * 255).rounded()), 255])
        try await Self.expect(Self.png([128], cicp: [1, 8, 0, 1]), is: [Self.encoded(128.0 / 255)])
    }

    @Test(
        "BT.2020 with PQ, at 16 bits and at 8",
        arguments: [
            [0.58, 0.58, 0.58], [0.5, 0.4, 0.3], [0.2, 0.5, 0.6], [0.7, 0.2, 0.1], [0.02, 0.02, 0.03], [1, 1, 1],
        ])
    func perceptualQuantizer(_ values: [Double]) async throws {
        let deep = values.map { Int(($0 * 65535).rounded()) }
        let expected = Self.toned(deep.map { Self.pq(Double($0) / 65535) })
        try await Self.expect(Self.png(deep, depth: 16, cicp: [9, 16, 0, 1]), is: expected)
        try await Self.expect(Self.png(deep + [0x1234], depth: 16, cicp: [9, 16, 0, 1]), is: expected + [0x12])
        let eight = values.map { Int(($0 * 255).rounded()) }
        try await Self.expect(
            Self.png(eight, cicp: [9, 16, 0, 1]), is: Self.toned(eight.map { Self.pq(Double($0) / 255) }))
        // libvips keeps the high byte.
        try await Self.expect(
            Self.png(deep, depth: 16, cicp: [9, 16, 0, 1], interlace: 1),
            is: Self.toned(deep.map { Self.pq(Double($0 >> 8) / 255) }), within: 2)
    }

    @Test(
        "BT.2020 with HLG",
        arguments: [[0.75, 0.75, 0.75], [0.5, 0.4, 0.3], [0.2, 0.5, 0.6], [1, 1, 1], [0, 0, 0]])
    func hybridLogGamma(_ values: [Double]) async throws {
        let deep = values.map { Int(($0 * 65535).rounded()) }
        let expected = Self.toned(Self.hlg(deep.map { Double($0) / 65535 }))
        try await Self.expect(Self.png(deep, depth: 16, cicp: [9, 18, 0, 1]), is: expected)
        let gray = deep[0]
        let level = Self.toned(Self.hlg([Double](repeating: Double(gray) / 65535, count: 3)))[1]
        try await Self.expect(Self.png([gray], depth: 16, cicp: [9, 18, 0, 1]), is: [level])
        try await Self.expect(
            Self.png([gray, 0x5678], depth: 16, cicp: [9, 18, 0, 1]), is: [level, level, level, 0x56])
    }

    @Test("16-bit tones between two levels of 8 bits stay apart", arguments: [(UInt8(16), 140), (18, 182)])
    func deepTones(_ transfer: UInt8, _ level: Int) async throws {
        let samples = (level << 8..<(level + 12) << 8).flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
        let file = PNG(
            width: samples.count / 2, height: 1, depth: 16, color: 0, chunks: [("cICP", [9, transfer, 0, 1])],
            rows: [[0] + samples])
        let found = try await SampleImage.decode(file.bytes).pixels
        let (darkest, brightest) = (try #require(found.first), try #require(found.last))
        // Twelve levels of 8 bits are more than twelve levels of sRGB here, so that some would be missing.
        #expect(brightest - darkest > 12)
        #expect(Set(found) == Set(darkest...brightest))
    }

    @Test(
        "sRGB, BT.709's relatives, unspecified and reserved numbers leave the pixels as they are",
        arguments: [
            [1, 13, 0, 1], [1, 1, 0, 1], [1, 6, 0, 1], [2, 2, 0, 1], [12, 2, 0, 1], [2, 16, 0, 1], [200, 13, 0, 1],
            [12, 99, 0, 1], [12, 13, 1, 1], [12, 13, 0], [],
        ] as [[UInt8]])
    func unchanged(_ cicp: [UInt8]) async throws {
        for color in [[200, 60, 30], [255, 0, 1]] {
            try await Self.expect(Self.png(color, cicp: cicp), is: color, within: 0)
        }
    }

    @Test("In a PNG they go before a profile, unless they are unspecified")
    func precedence() async throws {
        let packed = try #require(Deflation.zlibStream(of: Self.swapped, level: 6))
        let profile = [("iCCP", Array("icc\0\0".utf8) + packed)]
        let color = [200, 60, 30]
        let byProfile = try await SampleImage.decode(Self.png(color, cicp: nil, chunks: profile)).pixels.map {
            Int($0)
        }
        #expect(byProfile != color)
        try await Self.expect(Self.png(color, cicp: [1, 13, 0, 1], chunks: profile), is: color, within: 0)
        try await Self.expect(Self.png(color, cicp: [2, 2, 0, 1], chunks: profile), is: byProfile, within: 0)
    }

    /// sRGB's profile with the primaries of red and green swapped.
    private static let swapped: [UInt8] = {
        var profile = ICCProfile.sRGB
        for index in 132..<profile.count - 4 {
            let name = Array(profile[index..<index + 4])
            if name == Array("rXYZ".utf8) {
                profile[index] = UInt8(ascii: "g")
            } else if name == Array("gXYZ".utf8) {
                profile[index] = UInt8(ascii: "r")
            }
        }
        return profile
    }()

    private static func avif(_ base64: String) throws -> [UInt8] { [UInt8](try #require(Data(base64Encoded: base64))) }

    /// 8×8 pixels of 200, 60, 30 by avifenc, in Display P3, in BT.2020 with PQ, and with HLG; the latter two of 10 bits.
    private static let files = (
        p3:
            "AAAAIGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZk1BMUEAAADybWV0YQAAAAAAAAAoaGRscgAAAAAAAAAAcGljdAAAAAAAAAAAAAAAAGxpYmF2aWYAAAAADnBpdG0AAAAAAAEAAAAeaWxvYwAAAABEAAABAAEAAAABAAABGgAAACEAAAAoaWluZgAAAAAAAQAAABppbmZlAgAAAAABAABhdjAxQ29sb3IAAAAAamlwcnAAAABLaXBjbwAAABRpc3BlAAAAAAAAAAgAAAAIAAAAEHBpeGkAAAAAAwgICAAAAAxhdjFDgSAAAAAAABNjb2xybmNseAAMAA0AAIAAAAAXaXBtYQAAAAAAAAABAAEEAQKDBAAAACltZGF0EgAKCDgIv2EMDQCQMhMQAABGZ60ctTVutj2YjF7lQh60",
        pq:
            "AAAAIGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZk1BMUEAAADybWV0YQAAAAAAAAAoaGRscgAAAAAAAAAAcGljdAAAAAAAAAAAAAAAAGxpYmF2aWYAAAAADnBpdG0AAAAAAAEAAAAeaWxvYwAAAABEAAABAAEAAAABAAABGgAAACIAAAAoaWluZgAAAAAAAQAAABppbmZlAgAAAAABAABhdjAxQ29sb3IAAAAAamlwcnAAAABLaXBjbwAAABRpc3BlAAAAAAAAAAgAAAAIAAAAEHBpeGkAAAAAAwoKCgAAAAxhdjFDgSBAAAAAABNjb2xybmNseAAJABAACYAAAAAXaXBtYQAAAAAAAAABAAEEAQKDBAAAACptZGF0EgAKCDgIv2MJEAmQMhQQAABGZ60ckSZXrY8vfpfuVA6plA==",
        hlg:
            "AAAAIGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZk1BMUEAAADybWV0YQAAAAAAAAAoaGRscgAAAAAAAAAAcGljdAAAAAAAAAAAAAAAAGxpYmF2aWYAAAAADnBpdG0AAAAAAAEAAAAeaWxvYwAAAABEAAABAAEAAAABAAABGgAAACIAAAAoaWluZgAAAAAAAQAAABppbmZlAgAAAAABAABhdjAxQ29sb3IAAAAAamlwcnAAAABLaXBjbwAAABRpc3BlAAAAAAAAAAgAAAAIAAAAEHBpeGkAAAAAAwoKCgAAAAxhdjFDgSBAAAAAABNjb2xybmNseAAJABIACYAAAAAXaXBtYQAAAAAAAAABAAEEAQKDBAAAACptZGF0EgAKCDgIv2MJEgmQMhQQAABGZ60ckSZXrY8vfpfuVA6plA=="
    )

    @Test("An AVIF file by its nclx property: Display P3, PQ and HLG")
    func avif() async throws {
        let values = [200.0 / 255, 60.0 / 255, 30.0 / 255]
        let cases = [
            (
                Self.files.p3, Self.product(Self.fromP3, values.map(Self.linear)).map(Self.encoded),
                CodedColors(primaries: 12, transfer: 13, matrix: 0, isFullRange: true)
            ),
            (
                Self.files.pq, Self.toned(values.map(Self.pq)),
                CodedColors(primaries: 9, transfer: 16, matrix: 9, isFullRange: true)
            ),
            (
                Self.files.hlg, Self.toned(Self.hlg(values)),
                CodedColors(primaries: 9, transfer: 18, matrix: 9, isFullRange: true)
            ),
        ]
        for (base64, expected, coded) in cases {
            let file = try Self.avif(base64)
            for box in [nil, 4 as PixelSize?] {
                let found = try await SampleImage.decode(file, maxPixelSize: box).pixels.prefix(3).map { Int($0) }
                for (found, expected) in zip(found, expected) {
                    #expect(abs(found - expected) <= 4, "\(coded): \(found), not \(expected)")
                }
            }
            #expect(try await ImageMetadata(of: file).codedColors == coded)
        }
    }

    @Test("In AVIF and HEIF a profile describes the colours, and the numbers only matrix and range, in either order")
    func withProfile() async throws {
        let red = DecodedImage(size: 8, layout: .rgb, pixels: (0..<64).flatMap { _ in [200, 60, 30] as [UInt8] })
        for coded in [try await CodedPicture.av1(red), try .hevc()] {
            func decoded(_ contents: [UInt8]...) async throws -> (pixels: [UInt8], colors: CodedColors?) {
                var fixture = HEIFFixture()
                let properties = contents.map { fixture.property("colr", $0) }
                fixture.picture(coded, properties: properties)
                return (
                    try await SampleImage.decode(fixture.bytes).pixels,
                    try await ImageMetadata(of: fixture.bytes).codedColors
                )
            }
            let profile = Array("prof".utf8) + Self.swapped
            var results: [[UInt8]] = []
            for isFullRange in [true, false] {
                let numbers = CodedColors(primaries: 12, transfer: 13, matrix: 6, isFullRange: isFullRange)
                let nclx = Array("nclx".utf8) + [0, 12, 0, 13, 0, 6, isFullRange ? 0x80 : 0]
                let (first, last) = (try await decoded(profile, nclx), try await decoded(nclx, profile))
                #expect(first.colors == numbers && last.colors == numbers)
                #expect(first.pixels == last.pixels)
                results += [first.pixels, try await decoded(nclx).pixels]
            }
            #expect(Set(results).count == 4)
            // The numbers' primaries and transfer have no effect: matrix and range are those of the stored pixels.
            if coded.type == "av01" { #expect(try await decoded(profile).pixels == results[0]) }
        }
    }

    @Test("In AVIF and HEIF what is unspecified next to the other is sRGB's")
    func halfSpecified() async throws {
        let red = DecodedImage(size: 8, layout: .rgb, pixels: (0..<64).flatMap { _ in [200, 60, 30] as [UInt8] })
        for coded in [try await CodedPicture.av1(red), try .hevc()] {
            func decoded(_ primaries: UInt8, _ transfer: UInt8) async throws -> [UInt8] {
                var fixture = HEIFFixture()
                let numbers = Array("nclx".utf8) + [0, primaries, 0, transfer, 0, 6, 0x80]
                fixture.picture(coded, properties: [fixture.property("colr", numbers)])
                return try await SampleImage.decode(fixture.bytes).pixels
            }
            let plain = try await decoded(2, 2)
            #expect(try await decoded(1, 13) == plain)
            let (mapped, wide) = (try await decoded(1, 16), try await decoded(12, 13))
            #expect(mapped != plain && wide != plain)
            #expect(try await decoded(2, 16) == mapped)
            #expect(try await decoded(12, 2) == wide)
        }
    }

    @Test("Metadata and the trace tell them, also where there is a profile")
    func told() async throws {
        let file = Self.png([1, 2, 3], cicp: [9, 16, 0, 1])
        let coded = try #require(try await ImageMetadata(of: file).codedColors)
        #expect(coded == CodedColors(primaries: 9, transfer: 16, matrix: 0, isFullRange: true))
        #expect("\(coded)" == "BT.2020, PQ")
        let trace = try await SampleImage.load(file) { Decode() }.trace
        #expect("\(trace)".contains("BT.2020, PQ to sRGB"))
        let plain = Self.png([1, 2, 3], cicp: [1, 13, 0, 1])
        #expect(!"\(try await SampleImage.load(plain) { Decode() }.trace)".contains("to sRGB"))
        #expect(try await ImageMetadata(of: plain).codedColors?.transferName == "sRGB")
        #expect(try await ImageMetadata(of: Self.png([1, 2, 3], cicp: nil)).codedColors == nil)
    }
}
