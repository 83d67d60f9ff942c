import Pipeline
import Testing

@Suite("Sizes that fit a box")
struct PixelSizeTests {
    @Test(
        "The largest size with the same aspect, never enlarged, never without a pixel",
        arguments: [
            ((4000, 3000), (300, 300), (300, 225)),
            ((3000, 4000), (300, 300), (225, 300)),
            ((4000, 3000), (300, 100), (133, 100)),
            ((4000, 3000), (100, 300), (100, 75)),
            ((300, 225), (300, 300), (300, 225)),
            ((200, 100), (300, 300), (200, 100)),
            ((301, 1), (300, 300), (300, 1)),
            ((10_000, 1), (100, 100), (100, 1)),
            ((1, 10_000), (100, 100), (1, 100)),
            ((3, 2), (2, 2), (2, 1)),
            ((1000, 999), (100, 100), (100, 100)),
            ((5, 5), (1, 1), (1, 1)),
            ((5, 5), (0, 0), (1, 1)),
            ((5, 5), (-3, 10), (1, 1)),
            ((4000, 3000), (100, 0), (100, 75)),
            ((4000, 3000), (0, 300), (400, 300)),
            ((50, 3000), (100, 0), (50, 3000)),
            ((1_000_000_000, 1_000_000_000), (7, 9), (7, 7)),
        ])
    func fitted(size: (Int, Int), box: (Int, Int), result: (Int, Int)) {
        let size = PixelSize(width: size.0, height: size.1)
        let box = PixelSize(width: box.0, height: box.1)
        #expect(size.fitted(into: box) == PixelSize(width: result.0, height: result.1))
    }

    @Test("A whole number is a square box")
    func wholeNumber() {
        let box: PixelSize = 640
        #expect(box == PixelSize(width: 640, height: 640))
        #expect(box == PixelSize(square: 640))
        #expect(PixelSize(width: 640, height: 480).description == "640×480")
    }
}
