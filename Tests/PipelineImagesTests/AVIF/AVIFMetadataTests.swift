import Pipeline
import Testing

@testable import PipelineImages

@Suite("An AVIF's metadata is written as it is, by no library")
struct AVIFMetadataTests {
    /// EXIF that libraries would change: it says that the picture is turned, and its bytes end with some of no directory.
    private let metadata = EmbeddedMetadata(
        exif: EXIFRewriting.oriented(.right) + Array("behind all directories".utf8),
        xmp: Array("<x:xmpmeta>not even closed".utf8), profile: ICCProfile.sRGB)

    private func image(frames: Int, _ layout: PixelLayout = .rgb) -> DecodedImage {
        let count = 40 * 24 * layout.channelCount
        return DecodedImage(
            size: PixelSize(width: 40, height: 24), layout: layout,
            frames: (0..<frames).map { number in
                DecodedImage.Frame(
                    pixels: (0..<count).map { UInt8(truncatingIfNeeded: $0 / 7 + number * 50) },
                    delay: .milliseconds(frames > 1 ? 40 : 0))
            }, loopCount: 3)
    }

    private func decoded(_ file: [UInt8]) throws -> DecodedImage {
        let (decoder, cancellation) = (AVIFDecoder(), WorkCancellation())
        return try decoder.decode(
            file, header: decoder.header(of: file, cancellation: cancellation), box: nil,
            options: DecodeOptions(frames: 9), cancellation: cancellation)
    }

    @Test(
        "Each block alone and all together come back byte for byte, and the pixels stay the same",
        arguments: [1, 3], [PixelLayout.rgb, .rgba])
    func blocks(_ frames: Int, _ layout: PixelLayout) throws {
        let image = image(frames: frames, layout)
        let plain = try decoded(try EncodeOptions().file(of: image, .avif, metadata: EmbeddedMetadata()))
        let given = [
            metadata, EmbeddedMetadata(exif: metadata.exif), EmbeddedMetadata(xmp: metadata.xmp),
            EmbeddedMetadata(profile: metadata.profile),
        ]
        for blocks in given {
            let file = try EncodeOptions().file(of: image, .avif, metadata: blocks)
            #expect(try ImageCodecs.metadata(of: file, .avif) == blocks)
            let again = try decoded(file)
            #expect(again.size == image.size)
            #expect(again.frames == plain.frames)
            #expect(again.loopCount == plain.loopCount)
        }
    }
}
