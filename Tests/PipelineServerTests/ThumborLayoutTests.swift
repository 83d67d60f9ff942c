import PipelineImages
import Stages
import Testing

@testable import PipelineServer

@Suite("Sizes are those that thumbor calculates")
struct ThumborLayoutTests {
    /// The source's size, the part that is scaled, or `nil` for all, and the result's size. thumbor 7.8 made the
    /// numbers.
    private static let table: [(path: String, source: [Int], kept: [Int]?, result: [Int])] = [
        ("300x200", [400, 400], [0, 66, 400, 267], [300, 200]),
        ("300x200", [1200, 800], nil, [300, 200]),
        ("300x", [400, 267], nil, [300, 200]),
        ("0x0", [40, 30], nil, [40, 30]),
        ("300x200/left", [400, 100], [0, 0, 150, 100], [300, 200]),
        ("300x200/right", [400, 100], [250, 0, 150, 100], [300, 200]),
        ("300x200/top", [100, 400], [0, 0, 100, 67], [300, 200]),
        ("300x200/bottom", [101, 401], [0, 334, 101, 67], [300, 200]),
        ("fit-in/300x200", [400, 400], nil, [200, 200]),
        ("fit-in/300x200", [100, 50], nil, [100, 50]),
        ("full-fit-in/300x200", [400, 100], nil, [800, 200]),
        ("full-fit-in/300x200", [40, 10], nil, [800, 200]),
        ("adaptive-fit-in/300x200", [200, 400], nil, [150, 300]),
        ("adaptive-full-fit-in/300x200", [200, 400], nil, [200, 400]),
        ("adaptive-fit-in/300x200", [20, 40], nil, [20, 40]),
        ("origx100", [400, 300], [0, 100, 400, 100], [400, 100]),
        ("100xorig", [400, 300], [150, 0, 100, 300], [100, 300]),
        ("10x", [1000, 333], [0, 16, 1000, 300], [10, 3]),
        ("x10", [333, 1000], [16, 0, 300, 1000], [3, 10]),
        ("1x300", [900, 31], [450, 0, 1, 31], [1, 300]),
        ("50x40/filters:no_upscale()", [30, 90], [0, 25, 30, 40], [30, 40]),
        ("500x40/filters:no_upscale()", [30, 90], [0, 25, 30, 40], [30, 40]),
        ("500x40/filters:stretch()", [30, 90], nil, [500, 40]),
        ("200x200/filters:focal(10x10:30x30)", [400, 200], [0, 0, 200, 200], [200, 200]),
        ("200x200/filters:focal(300x10:390x100)", [400, 200], [200, 0, 200, 200], [200, 200]),
        ("100x200/filters:focal(10x10:30x30):focal(200x100:300x180)", [400, 200], [189, 0, 100, 200], [100, 200]),
        ("50x50:250x150/100x100/filters:focal(60x60:80x80)", [400, 200], [0, 0, 100, 100], [100, 100]),
        ("50x50:250x150/100x100/filters:focal(0x0:20x20)", [400, 200], [50, 0, 100, 100], [100, 100]),
        ("300x10:350x190/fit-in/100x100", [400, 200], nil, [28, 100]),
        ("500x10:600x190/100x100", [400, 200], [100, 0, 200, 200], [100, 100]),
        ("fit-in/origx50", [400, 200], nil, [100, 50]),
        ("fit-in/x150", [401, 299], nil, [201, 150]),
        ("fit-in/75x", [401, 299], nil, [75, 56]),
        ("full-fit-in/0x75", [401, 299], nil, [101, 75]),
        ("4x34:147x425/332x", [445, 429], nil, [332, 908]),
        ("3x36:177x279/72x93/right", [48, 571], [0, 92, 45, 58], [72, 93]),
        ("880x297", [100, 561], [0, 263, 100, 34], [880, 297]),
        ("full-fit-in/0x/right/bottom", [307, 255], nil, [307, 255]),
        ("full-fit-in/814x716/right/top/filters:stretch()", [75, 121], nil, [814, 1313]),
        ("full-fit-in/525x169/left/top/filters:stretch()", [509, 594], nil, [525, 613]),
    ]

    private func layout(_ path: String, _ source: PixelSize, longestSide: Int = 8192) throws -> ThumborLayout {
        let stages = try ThumborDialect().picture("\(path)/a.jpg"[...]).stages
        let transform = try #require(stages.last as? ThumborTransform)
        var sizing = transform.sizing
        sizing.longestSide = longestSide
        return ThumborLayout(sizing, of: sizing.crop.region(in: source)?.size ?? source, in: source)
    }

    @Test("The part that is kept, and the size of the result", arguments: table.indices)
    func sizes(index: Int) throws {
        let (path, sides, kept, result) = Self.table[index]
        let made = try layout(path, PixelSize(width: sides[0], height: sides[1]))
        #expect([made.scaled.width, made.scaled.height] == result, "\(path)")
        if let kept {
            let region = made.kept
            #expect([region.x, region.y, region.size.width, region.size.height] == kept, "\(path)")
        } else {
            #expect(made.kept.x == 0 && made.kept.y == 0, "\(path)")
        }
    }

    @Test(
        "A result above the limit is scaled to it",
        arguments: [("0x0", 100, 50), ("0x90", 100, 50), ("full-fit-in/90x90", 100, 50), ("300x200", 100, 67)])
    func limit(path: String, width: Int, height: Int) throws {
        let scaled = try layout(path, PixelSize(width: 200, height: 100), longestSide: 100).scaled
        #expect(scaled == PixelSize(width: width, height: height))
    }

    @Test(
        "The sides that fill and upscale fill",
        arguments: [
            ("fit-in/300x200", 300, 200), ("fit-in/50x0", 50, 25), ("fit-in/0x20", 40, 20),
            ("full-fit-in/100x100", 200, 100),
            ("adaptive-fit-in/20x50", 50, 20), ("300x0", 300, 0), ("origx10", 200, 10),
            ("500x10/filters:no_upscale()", 200, 10),
        ])
    func box(path: String, width: Int, height: Int) throws {
        #expect(try layout(path, PixelSize(width: 200, height: 100)).box == PixelSize(width: width, height: height))
    }

    @Test("Numbers are rounded as Python rounds the exact value of a binary fraction")
    func hundredths() {
        // 2.675 is a little less in binary, 1.125 and 1.135 are exact or a little more.
        for (value, result) in [(2.675, 267.0), (1.125, 112), (1.135, 114), (1.375, 138), (0.285, 28), (1.0 / 3, 33)] {
            #expect(ThumborLayout.hundredths(value) == result, "\(value)")
        }
    }
}
