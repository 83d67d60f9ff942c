import Pipeline
import Testing

@testable import PipelineCommand

@Suite("A geometry")
struct GeometryTests {
    @Test(
        "makes of a picture what ImageMagick and vipsthumbnail make of it",
        arguments: [
            ("400x300", 800, 800, 300, 300), ("400x300", 100, 50, 400, 200), ("400x300", 1000, 100, 400, 40),
            ("400", 800, 400, 400, 200), ("400x", 800, 400, 400, 200), ("x300", 800, 600, 400, 300),
            ("400x300>", 800, 800, 300, 300), ("400x300>", 100, 50, 100, 50), ("400x300<", 800, 800, 800, 800),
            ("400x300<", 100, 50, 400, 200), ("400x300!", 1000, 100, 400, 300), ("400x300^", 800, 800, 400, 400),
            ("400x300^>", 100, 50, 100, 50), ("400x300!>", 1000, 1000, 400, 300), ("1x1", 5000, 2, 1, 1),
        ])
    func targets(text: String, width: Int, height: Int, newWidth: Int, newHeight: Int) throws {
        let geometry = try #require(Geometry(argument: text))
        #expect(
            geometry.target(of: PixelSize(width: width, height: height))
                == PixelSize(width: newWidth, height: newHeight))
    }

    @Test(
        "is refused where it makes no sense",
        arguments: ["", "x", "0x10", "10x0", "-1x5", "axb", "1x2x3", "10x10><", "10x10!^", "400!", "x300^", "1000001"])
    func refusals(text: String) { #expect(Geometry(argument: text) == nil) }

    @Test("prints itself so that two that differ have different signatures")
    func description() throws {
        let texts = ["400x300", "400", "x300", "400x300>", "400x300<", "400x300!", "400x300^", "400x300^>"]
        #expect(try texts.map { try #require(Geometry(argument: $0)).description } == texts)
    }
}
