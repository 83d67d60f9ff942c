import Stages
import Testing

@testable import PipelineServer

@Suite("Sizes are calculated from the options and the source's size")
struct ImgproxyLayoutTests {
    /// The size of the result of a picture of 200×100 pixels.
    private func result(_ sizing: ImgproxySizing) -> PixelSize {
        let layout = ImgproxyLayout(sizing, of: PixelSize(width: 200, height: 100))
        let canvas = layout.canvas(sizing, of: ImgproxyLayout.visible(layout.kept, of: layout.scaled))
        let padding = layout.padding(sizing)
        return PixelSize(
            width: canvas.width + padding.left + padding.right, height: canvas.height + padding.top + padding.bottom)
    }

    @Test(
        "A result above the limit is scaled to it, with its padding",
        arguments: [
            (50, "rs:fit:100:100", 50, 25), (50, "rs:fit:0:0", 50, 25), (100, "rs:fit:1000:1000:1", 100, 50),
            (100, "rs:fit:1000:2000/ex:1", 50, 100), (100, "rs:fit:1000:2000/exar:1", 50, 100),
            (200, "rs:fit:100:100/pd:100:200:300:400", 200, 129), (50, "rs:fill:1000:50", 50, 13),
            (50, "rs:fill:100:1000", 50, 50), (50, "rs:fill-down:1000:50", 50, 3), (50, "rs:fill-down:100:1000", 5, 50),
            (200, "rs:fill:100:100/pd:100:200:300:400", 200, 144), (150, "w:100/dpr:3/el:1", 150, 75),
        ])
    func limit(longestSide: Int, options: String, width: Int, height: Int) throws {
        // The sides in a path have a limit of their own, so they are read with a larger one.
        let stages = try ImgproxyDialect(longestSide: 8192).picture("\(options)/plain/a").stages
        let resize = try #require(stages.compactMap { $0 as? ImgproxyResize }.first)
        var sizing = resize.sizing
        sizing.longestSide = longestSide
        #expect(result(sizing) == PixelSize(width: width, height: height))
    }

    @Test("A pixel ratio that would enlarge the picture is lowered, and padding with it")
    func pixelRatio() {
        var sizing = ImgproxySizing()
        (sizing.width, sizing.pixelRatio, sizing.padding.left) = (150, 3, 30)
        let layout = ImgproxyLayout(sizing, of: PixelSize(width: 200, height: 100))
        #expect(layout.scaled == PixelSize(width: 200, height: 100))
        #expect(abs(layout.pixelRatio - 4.0 / 3) < 1e-9 && layout.padding(sizing).left == 40)
    }
}
