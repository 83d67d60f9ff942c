import Pipeline
import PipelineTesting
import Testing

@Suite("Ready-made pictures")
struct PictureTests {
    @Test(
        "The colour's channels give the layout",
        arguments: [
            ([9], PixelLayout.gray), ([1, 2, 3], .rgb), ([1, 2, 3, 4], .rgba),
        ] as [([UInt8], PixelLayout)])
    func layouts(pixel: [UInt8], layout: PixelLayout) {
        let image = DecodedImage.filled(PixelSize(width: 3, height: 2), with: pixel)
        #expect(image.layout == layout)
        #expect(image.size == PixelSize(width: 3, height: 2))
        #expect(image.nativeSize == image.size)
        #expect(image.frames.map(\.bytes) == [(0..<6).flatMap { _ in pixel }])
        #expect(LoadProduct.image(image).cost == 6 * pixel.count)
    }
}
