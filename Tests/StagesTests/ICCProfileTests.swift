import Glibc
import Testing

@testable import Stages

@Suite("sRGB's own profile is known, so that nothing is converted in vain")
struct ICCProfileTests {
    private func profile(of path: String) throws -> [UInt8] {
        let bytes = try SampleImage.bytes(path)
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

    @Test("Any damaged profile gives an answer")
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
            }
        }
    }
}
