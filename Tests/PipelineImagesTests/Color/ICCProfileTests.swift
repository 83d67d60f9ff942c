import LibC
import TestFixtures
import Testing

@testable import PipelineImages

@Suite("sRGB's own profile is known, so that nothing is converted in vain")
struct ICCProfileTests {
    private func profile(of path: String) throws -> [UInt8] {
        let bytes = try Pictures.bytes(path)
        let name = try #require(bytes.firstRange(of: Array("ICC_PROFILE\0".utf8)))
        // The segment's length stands before its name; two counters follow it.
        let length = Int(bytes[name.lowerBound - 2]) << 8 | Int(bytes[name.lowerBound - 1])
        return Array(bytes[name.upperBound + 2..<name.lowerBound - 2 + length])
    }

    @Test("The profile that most photographs carry is sRGB")
    func common() throws { #expect(ICCProfile(try profile(of: "good/jpeg-exif-xmp-icc.jpg")).isSRGB) }

    @Test("Display P3 and CMYK are not")
    func others() throws {
        #expect(!ICCProfile(try profile(of: "good/jpeg-icc-display-p3.jpg")).isSRGB)
        #expect(!ICCProfile(try profile(of: "good/jpeg-cmyk-icc.jpg")).isSRGB)
    }

    @Test("Another curve with sRGB's primaries is not")
    func gamma() throws {
        var bytes = try profile(of: "good/jpeg-exif-xmp-icc.jpg")
        let curve = try #require(bytes.firstRange(of: Array("para".utf8)))
        // Its first number is the power: 1.8 instead of 2.4.
        bytes.replaceSubrange(curve.lowerBound + 12..<curve.lowerBound + 16, with: [0, 1, 0xcc, 0xcd])
        let isSRGB = ICCProfile(bytes).isSRGB
        #expect(!isSRGB)
    }

    @Test("A curve may be a table, as in the profiles of version 2", arguments: [true, false])
    func table(_ isSRGBs: Bool) throws {
        var bytes = try profile(of: "good/jpeg-exif-xmp-icc.jpg")
        let place = [UInt8(bytes.count >> 8), UInt8(bytes.count & 255), 0, 0, 8, 12]
        for name in ["rTRC", "gTRC", "bTRC"] {
            let tag = try #require(bytes.firstRange(of: Array(name.utf8)))
            bytes.replaceSubrange(tag.upperBound + 2..<tag.upperBound + 8, with: place)
        }
        bytes += Array("curv".utf8) + [0, 0, 0, 0, 0, 0, 4, 0]
        for index in 0..<1024 {
            let value = Double(index) / 1023
            let curved = value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
            let light = UInt16((isSRGBs ? curved : value) * 65535)
            bytes += [UInt8(light >> 8), UInt8(light & 255)]
        }
        let isSRGB = ICCProfile(bytes).isSRGB
        #expect(isSRGB == isSRGBs)
    }

    @Test("A curve may have any of the parametric forms, as in the pictures of phones")
    func parametric() throws {
        func curve(_ type: Int, _ numbers: [Double]) -> [UInt8] {
            let fixed = numbers.flatMap { (Int(($0 * 65536).rounded()) & 0xffff_ffff).bigEndian(4) as [UInt8] }
            return Array("para".utf8) + [0, 0, 0, 0, 0, UInt8(type), 0, 0] + fixed
        }
        func light(_ type: Int, _ numbers: [Double], at level: Double) throws -> Double {
            try #require(ICCProfile.light(level, curve(type, numbers)[...]))
        }
        #expect(abs(try light(0, [2], at: 0.5) - 0.25) < 1e-4)
        #expect(abs(try light(1, [2, 2, -0.5], at: 0.5) - 0.25) < 1e-4)
        #expect(try light(1, [2, 2, -0.5], at: 0.125) == 0)
        #expect(abs(try light(2, [2, 2, -0.5, 0.125], at: 0.5) - 0.375) < 1e-4)
        #expect(abs(try light(2, [2, 2, -0.5, 0.125], at: 0.125) - 0.125) < 1e-4)
        let sRGB = [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045]
        for level in [0, 0.03, 0.2, 0.7, 1] {
            let expected = TransferCurve.sRGB.light(level)
            #expect(abs(try light(3, sRGB, at: level) - expected) < 1e-3)
            #expect(abs(try light(4, sRGB + [0, 0], at: level) - expected) < 1e-3)
            #expect(abs(try light(4, sRGB + [0.1, 0.1], at: level) - expected - 0.1) < 1e-3)
        }
        #expect(ICCProfile.light(0.5, curve(5, sRGB)[...]) == nil && ICCProfile.light(0.5, curve(4, sRGB)[...]) == nil)
    }

    @Test("A profile of curves and primaries is converted as LittleCMS does, within a level or two")
    func conversion() throws {
        let profile = try profile(of: "good/jpeg-icc-display-p3.jpg")
        var random = SystemRandomNumberGenerator()
        var pixels = (0..<64 * 64 * 3).map { _ in UInt8.random(in: 0...255, using: &random) }
        let source = pixels
        let conversion = try #require(ICCConversion(ICCProfile(profile), channels: 3))
        conversion.apply(to: &pixels)
        // Reference: the definition itself, in floating point, of Display P3's primaries (SMPTE EG 432-1).
        let matrix = [
            [1.224_940_2, -0.224_940_2, 0.0], [-0.042_056_9, 1.042_056_9, 0.0],
            [-0.019_637_6, -0.078_636_1, 1.098_273_7],
        ]
        for start in stride(from: 0, to: source.count, by: 3) {
            let light = source[start..<start + 3].map { level -> Double in
                let value = Double(level) / 255
                return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
            }
            for row in 0..<3 {
                let sum = zip(matrix[row], light).reduce(0) { $0 + $1.0 * $1.1 }
                let clipped = min(1, max(0, sum))
                let encoded = clipped <= 0.003_130_8 ? clipped * 12.92 : 1.055 * pow(clipped, 1 / 2.4) - 0.055
                #expect(abs(Double(pixels[start + row]) - encoded * 255) < 2.5)
            }
        }
    }

    @Test("Black, white and greys stay what they are, and so does transparency")
    func grays() throws {
        let profile = ICCProfile(try profile(of: "good/jpeg-icc-display-p3.jpg"))
        var pixels = (0...255).flatMap { [UInt8($0), UInt8($0), UInt8($0), UInt8(255 - $0)] }
        let source = pixels
        try #require(ICCConversion(profile, channels: 4)).apply(to: &pixels)
        for index in pixels.indices { #expect(abs(Int(pixels[index]) - Int(source[index])) <= 1) }
        #expect(ICCConversion(profile, channels: 1) == nil)
        let ink = ICCProfile(try self.profile(of: "good/jpeg-cmyk-icc.jpg"))
        #expect(ICCConversion(ink, channels: 4) == nil)
    }

    @Test("Any damaged profile gives a result")
    func damaged() throws {
        let srgb = try profile(of: "good/jpeg-exif-xmp-icc.jpg")
        // Behind the curves comes nothing that matters here.
        for length in stride(from: 0, to: 540, by: 7) {
            let isSRGB = ICCProfile(Array(srgb.prefix(length))).isSRGB
            #expect(!isSRGB)
        }
        for index in 0..<400 {
            for value: UInt8 in [0, 0x7f, 0xff] {
                var bytes = srgb
                bytes[index] = value
                _ = ICCProfile(bytes).isSRGB
                _ = ICCConversion(ICCProfile(bytes), channels: 3)
            }
        }
    }
}
