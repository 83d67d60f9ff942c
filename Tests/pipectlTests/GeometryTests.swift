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
            ("50%", 801, 600, 401, 300), ("50%x25%", 800, 600, 200, 150), ("50%x25%!", 800, 600, 400, 150),
            ("x12.5%", 800, 600, 100, 75), ("200%", 10, 20, 20, 40), ("200%>", 10, 20, 10, 20), ("1%", 20, 9, 1, 1),
            ("50%x300", 800, 600, 400, 300), ("10000%x1!", 1_000_000, 9, 100_000_000, 1),
        ])
    func targets(text: String, width: Int, height: Int, newWidth: Int, newHeight: Int) throws {
        let geometry = try #require(Geometry(argument: text))
        #expect(
            geometry.target(of: PixelSize(width: width, height: height))
                == PixelSize(width: newWidth, height: newHeight))
    }

    @Test(
        "is refused where it makes no sense",
        arguments: [
            "", "x", "0x10", "10x0", "-1x5", "axb", "1x2x3", "10x10><", "10x10!^", "400!", "x300^", "1000001", "%",
            "0%", "-5%",
            "nan%", "inf%", "10001%", "50%%", "50%!", "%50",
        ])
    func refusals(text: String) { #expect(Geometry(argument: text) == nil) }

    @Test("prints itself so that two that differ have different signatures")
    func description() throws {
        let texts = [
            "400x300", "400", "x300", "400x300>", "400x300<", "400x300!", "400x300^", "400x300^>", "50%x2.5%!",
        ]
        #expect(try texts.map { try #require(Geometry(argument: $0)).description } == texts)
    }
}
