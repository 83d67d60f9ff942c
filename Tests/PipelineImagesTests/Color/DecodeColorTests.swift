import Pipeline
import PipelineImages
import TestFixtures
import Testing

@Suite("Colours come out in sRGB, whatever a file holds")
struct DecodeColorTests {
    // The numbers are LittleCMS' own, by its perceptual intent to its built-in sRGB, through Pillow 13.
    @Test(
        "Display P3, Rec. 2020 and CMYK come out in sRGB",
        arguments: [
            (
                "jpeg-icc-display-p3.jpg", [105.1, 93.2, 53.0],
                [(160, 118, [200, 153, 82]), (320, 236, [56, 55, 0]), (64, 424, [10, 22, 1])]
            ),
            (
                "jpeg-cmyk-icc.jpg", [104.2, 101.3, 50.8],
                [(160, 118, [201, 164, 111]), (320, 236, [57, 64, 0]), (64, 424, [11, 37, 10])]
            ),
            (
                "png-icc-rec2020.png", [195.4, 141.1, 121.6],
                [(64, 32, [255, 0, 70]), (128, 64, [0, 255, 120]), (192, 96, [152, 255, 192])]
            ),
        ] as [(String, [Double], [(Int, Int, [Int])])])
    func colors(_ name: String, _ means: [Double], _ pixels: [(Int, Int, [Int])]) async throws {
        let image = try await SampleImage.decode(try Pictures.bytes("good/\(name)"))
        #expect(image.layout == .rgb)
        for (mean, expected) in zip(image.means, means) { #expect(abs(mean - expected) < 0.5) }
        for (x, y, expected) in pixels {
            for (value, wanted) in zip(image.pixel(x, y), expected) { #expect(abs(value - wanted) <= 2) }
        }
    }

    @Test("Ink without a profile is mixed as browsers do")
    func inkWithoutProfile() async throws {
        var bytes = try Pictures.bytes("good/jpeg-cmyk-icc.jpg")
        // Without its name the profile's segments are an unknown application's.
        let name = Array("ICC_PROFILE".utf8)
        for index in bytes.indices where bytes[index...].starts(with: name) { bytes[index] = UInt8(ascii: "X") }
        let image = try await SampleImage.decode(bytes)
        // Pillow's conversion, which multiplies as browsers do.
        for (mean, expected) in zip(image.means, [87.8, 82.7, 44.3]) { #expect(abs(mean - expected) < 0.5) }
    }
}
