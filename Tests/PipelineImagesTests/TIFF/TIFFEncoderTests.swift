import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineImages

@Suite("TIFF is written strip by strip, and libtiff reads it")
struct TIFFEncoderTests {
    private func encoded(
        _ image: DecodedImage, _ compression: EncodeOptions.TIFF.Compression,
        _ metadata: EmbeddedMetadata = EmbeddedMetadata()
    ) throws -> [UInt8] {
        try TIFFEncoder()
            .encode(
                image, quality: 80, options: .init(compression: compression), metadata: metadata,
                cancellation: WorkCancellation())
    }

    @Test(
        "Every pixel is kept, in one strip or many, of short rows or of one that is long",
        arguments: EncodeOptions.TIFF.Compression.allCases,
        [
            PixelSize(square: 1), PixelSize(width: 1, height: 999), PixelSize(width: 700, height: 500),
            PixelSize(width: 300_000, height: 2),
        ])
    func pixels(_ compression: EncodeOptions.TIFF.Compression, _ size: PixelSize) async throws {
        var random = SeededGenerator(seed: 3)
        for layout in [PixelLayout.gray, .rgb, .rgba] {
            let count = size.bytes(layout.channelCount)
            let patterns = [
                (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) },
                (0..<count).map { UInt8(truncatingIfNeeded: $0 / 7 ^ $0 / 5000) },
                [UInt8](repeating: 200, count: count),
            ]
            for pixels in patterns {
                let image = DecodedImage(size: size, layout: layout, pixels: pixels)
                let decode = Decode(limits: ImageLimits(side: 300_000))
                let again = try await SampleImage.decode(try encoded(image, compression), with: decode)
                #expect(again.layout == layout)
                #expect(again.pixels == pixels)
            }
        }
    }

    @Test("However many bytes a strip has, its LZW codes end where they should")
    func ends() async throws {
        var random = SeededGenerator(seed: 5)
        // The table has its widths' strings, and is full, at different lengths of each.
        let noise = (0..<4200).map { _ in UInt8.random(in: 0...255, using: &random) }
        for length in [1, 2, 3] + Array(250...260) + Array(760...772) + Array(1784...1796) + Array(3830...3842) {
            let size = PixelSize(width: length, height: 1)
            let image = DecodedImage(size: size, layout: .gray, pixels: Array(noise.prefix(length)))
            #expect(try await SampleImage.decode(try encoded(image, .lzw)).pixels == image.pixels, "\(length)")
        }
    }

    @Test("EXIF's texts, XMP and the profile are kept")
    func metadata() throws {
        let texts = EXIFBlock.Tag.texts.map { (tag: $0, text: Optional(Array("tag \($0)".utf8))) }
        let metadata = EmbeddedMetadata(
            exif: EXIFRewriting.composed(of: texts), xmp: Array("<x/>".utf8), profile: ICCProfile.sRGB)
        let image = DecodedImage(size: 9, layout: .rgb, pixels: [UInt8](repeating: 7, count: 243))
        let file = try encoded(image, .deflate, metadata)
        #expect(try ImageCodecs.metadata(of: file, .tiff) == metadata)
    }
}
