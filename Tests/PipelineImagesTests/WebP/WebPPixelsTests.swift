import CWebP
import Pipeline
import TestFixtures
import Testing

@testable import PipelineImages

@Suite("libwebp is given pixels in strips")
struct WebPPixelsTests {
    /// What libwebp makes of all rows at once.
    private func encodedAtOnce(_ image: DecodedImage, lossless: Bool) throws -> [UInt8] {
        var (config, picture, writer) = (WebPConfig(), WebPPicture(), WebPMemoryWriter())
        try #require(WebPConfigPreset(&config, WEBP_PRESET_DEFAULT, 80) != 0)
        try #require(WebPPictureInit(&picture) != 0)
        if lossless { try #require(WebPConfigLosslessPreset(&config, 6) != 0) }
        picture.width = Int32(image.width)
        picture.height = Int32(image.height)
        picture.use_argb = lossless ? 1 : 0
        let stride = Int32(image.width * image.layout.channelCount)
        let imported =
            image.layout.hasAlpha
            ? WebPPictureImportRGBA(&picture, image.pixels, stride)
            : WebPPictureImportRGB(&picture, image.pixels, stride)
        try #require(imported != 0)
        WebPMemoryWriterInit(&writer)
        defer {
            WebPPictureFree(&picture)
            WebPMemoryWriterClear(&writer)
        }
        return try withUnsafeMutablePointer(to: &writer) { writer in
            picture.writer = { WebPMemoryWrite($0, $1, $2) }
            picture.custom_ptr = UnsafeMutableRawPointer(writer)
            try #require(WebPEncode(&config, &picture) != 0)
            return Array(UnsafeBufferPointer(start: writer.pointee.mem, count: writer.pointee.size))
        }
    }

    @Test(
        "The file is the same as if it were given all at once, byte by byte",
        arguments: [
            PixelSize(square: 1), PixelSize(width: 300, height: 64), PixelSize(width: 33, height: 65),
            PixelSize(width: 301, height: 199),
        ], [false, true])
    func sameBytes(_ size: PixelSize, _ lossless: Bool) throws {
        func value(_ index: Int) -> UInt8 { UInt8(truncatingIfNeeded: index / 5 ^ index / 700) }
        let area = size.width * size.height
        let colors = (0..<area * 3).map(value)
        // Transparent all over, in some strips alone, and nowhere.
        let alphas = [
            (0..<area).map(value), (0..<area).map { $0 < area / 2 ? 255 : 9 }, [UInt8](repeating: 255, count: area),
        ]
        var images = [DecodedImage(size: size, layout: .rgb, pixels: colors)]
        for alpha in alphas {
            let pixels = (0..<area).flatMap { (index: Int) -> [UInt8] in
                Array(colors[index * 3..<index * 3 + 3]) + [alpha[index]]
            }
            images.append(DecodedImage(size: size, layout: .rgba, pixels: pixels))
        }
        var options = EncodeOptions()
        options.webp.lossless = lossless
        for image in images {
            let bytes = try options.file(of: image, .webp)
            #expect(try bytes == encodedAtOnce(image, lossless: lossless))
        }
        // Grey is three colours that are the same.
        let gray = DecodedImage(size: size, layout: .gray, pixels: (0..<area).map(value))
        let colored = try gray.withColor(WorkCancellation())
        let bytes = try options.file(of: gray, .webp)
        #expect(try bytes == encodedAtOnce(colored, lossless: lossless))
    }
}
