import Pipeline
import TestFixtures
import Testing

@testable import PipelineImages

/// `generated/gradient-10.heic` is written by another program, of 1024×64 pixels. Of 65535 levels, red is 64 times the
/// column, green what lacks of white, blue the middle, and alpha 1024 times the row.
@Suite("A HEIC of 10 bits a channel keeps them")
struct DeepHEICTests {
    private let size = PixelSize(width: 1024, height: 64)

    private func bytes() throws -> [UInt8] { try Pictures.bytes("generated/gradient-10.heic") }

    private func deep(_ bytes: [UInt8]) async throws -> DecodedImage {
        let image = try await SampleImage.decode(bytes, with: Decode(depth: .source))
        try #require(image.layout == PixelLayout.rgba.with(.uint16))
        return image
    }

    @Test("Its samples are those of the picture, transparency included, within two levels of 8 bits")
    func samples() async throws {
        let image = try await deep(try bytes())
        #expect(image.size == size)
        let samples = image.samples
        for (index, made) in samples.enumerated() {
            let (x, y) = (index / 4 % 1024, index / 4096)
            let distance = abs(Int(made) - [64 * x, 65535 - 64 * x, 32768, 1024 * y][index % 4])
            #expect(distance < 514)
        }
        #expect(Set(stride(from: 0, to: samples.count, by: 4).map { samples[$0] }).count > 512)
        // Each is a level of 10 bits: the nearest whole number to it.
        #expect(
            samples.allSatisfy { made in
                let level = (Int(made) * 1023 + 32767) / 65535
                return Int(made) == (level * 65535 * 2 + 1023) / 2046
            })
    }

    @Test("A PNG made of it has 16 bits, an AVIF 10, and pixels of 8 bits are the samples rounded")
    func results() async throws {
        for (format, bits) in [(ImageFormat.png, 16), (.avif, 10), (.webp, 8)] {
            let list = try await SampleImage.load(try bytes()) {
                Decode()
                Encode(format)
            }
            let result = try #require(list.encoded?.bytes)
            #expect(try await ImageMetadata(of: result).bitsPerChannel == bits)
            if format == .png { #expect(try await deep(result) == deep(try bytes())) }
        }
        let flat = try await SampleImage.decode(try bytes())
        #expect(flat.layout == .rgba)
        let rounded = try await deep(try bytes()).samples.map { (Int($0) * 255 + 32767) / 65535 }
        #expect(zip(flat.pixels, rounded).allSatisfy { abs(Int($0) - $1) <= 1 })
    }

    @Test("Tiles, crops and turns are those of pixels of 8 bits")
    func geometry() async throws {
        let coded = try CodedPicture(of: try bytes())
        let plain = try await SampleImage.decode(HEIFFixture.single(coded).bytes, with: Decode(depth: .source))
        var fixture = HEIFFixture.grid(of: coded, columns: 2, rows: 2, size: PixelSize(width: 2000, height: 100))
        for (type, content) in [("clap", HEIFFixture.crop(1200, 90)), ("irot", [3])] as [(String, [UInt8])] {
            fixture.items[0].properties.append(fixture.property(type, content))
        }
        let image = try await SampleImage.decode(fixture.bytes, with: Decode(depth: .source))
        #expect(image.size == PixelSize(width: 90, height: 1200) && image.layout == PixelLayout.rgb.with(.uint16))
        let (made, source) = (image.samples, plain.samples)
        // Turned clockwise, the left column is the bottom row.
        for y in stride(from: 0, to: 1200, by: 7) {
            for x in 0..<90 {
                let (column, row) = ((400 + y) % 1024, (5 + 89 - x) % 64)
                let places = (3 * (90 * y + x), 3 * (1024 * row + column))
                #expect(made[places.0..<places.0 + 3] == source[places.1..<places.1 + 3])
            }
        }
    }
}
