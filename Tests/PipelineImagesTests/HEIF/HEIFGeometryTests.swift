import Pipeline
import TestFixtures
import Testing

@testable import PipelineImages

@Suite("What a HEIF picture's properties make of its pixels")
struct HEIFGeometryTests {
    private typealias Step = (type: String, content: [UInt8])

    /// The pixels of a canvas, numbered, after the steps are applied one by one to whole pictures.
    private func applied(_ steps: [Step], to canvas: PixelSize) -> (size: PixelSize, pixels: [Int]) {
        var (width, height) = (canvas.width, canvas.height)
        var pixels = Array(0..<width * height)
        func at(_ x: Int, _ y: Int) -> Int { pixels[y * width + x] }
        for (type, content) in steps {
            switch type {
            case "irot":
                for _ in 0..<content[0] {
                    // The last column becomes the first row.
                    pixels = (0..<width).flatMap { row in (0..<height).map { at(width - 1 - row, $0) } }
                    (width, height) = (height, width)
                }
            case "imir" where content[0] == 1:
                pixels = (0..<height).flatMap { row in (0..<width).map { at(width - 1 - $0, row) } }
            case "imir": pixels = (0..<height).flatMap { row in (0..<width).map { at($0, height - 1 - row) } }
            default:
                // A crop of whole numbers: a size, then twice the distances of the centres.
                let numbers = stride(from: 0, to: 32, by: 8).map { start in
                    Int(Int32(truncatingIfNeeded: content[...].number(at: start, bytes: 4) ?? 0))
                }
                let left = (numbers[2] + width - numbers[0]) / 2
                let top = (numbers[3] + height - numbers[1]) / 2
                pixels = (top..<top + numbers[1]).flatMap { row in
                    (left..<left + numbers[0]).map { at($0, row) }
                }
                (width, height) = (numbers[0], numbers[1])
            }
        }
        return (PixelSize(width: width, height: height), pixels)
    }

    @Test("Crops, turns and mirrors apply in the order in which they are associated, whichever it is")
    func orders() throws {
        let canvas = PixelSize(width: 9, height: 6)
        let turns: [Step] = (0..<4).map { ("irot", [$0]) }
        let mirrors: [Step] = (0..<2).map { ("imir", [$0]) }
        let crops: [Step] = [("clap", HEIFFixture.crop(5, 4, across: 2, down: -2)), ("clap", HEIFFixture.crop(4, 3))]
        for turn in turns {
            for mirror in mirrors {
                for crop in crops {
                    for steps in [
                        [], [turn], [mirror], [crop], [crop, turn, mirror], [crop, mirror, turn], [turn, crop, mirror],
                        [turn, mirror, crop], [mirror, crop, turn], [mirror, turn, crop], [turn, mirror, turn, mirror],
                    ] {
                        let properties = steps.map {
                            ISOBox(type: $0.type, content: $0.content[...], isWhole: true)
                        }
                        let geometry = try HEIFGeometry(of: canvas, properties) { _ in
                            .init(.undecodable, subject: "", "")
                        }
                        let expected = applied(steps, to: canvas)
                        let stored = (geometry.top..<geometry.top + geometry.size.height).flatMap { row in
                            (geometry.left..<geometry.left + geometry.size.width).map { UInt8(row * 9 + $0) }
                        }
                        let pixels = try geometry.orientation.applied(to: stored, size: geometry.size, channels: 1)
                        #expect(geometry.orientation.applied(to: geometry.size) == expected.size)
                        #expect(pixels.map(Int.init) == expected.pixels, "\(steps.map(\.type)) \(turn) \(mirror)")
                    }
                }
            }
        }
    }

    @Test("A crop beyond the picture ends at its edge; one to nothing is an error")
    func edges() throws {
        let canvas = PixelSize(width: 9, height: 6)
        func geometry(_ content: [UInt8]) throws -> HEIFGeometry {
            try HEIFGeometry(of: canvas, [ISOBox(type: "clap", content: content[...], isWhole: true)]) {
                LoadError(.undecodable, subject: "", $0)
            }
        }
        #expect(try geometry(HEIFFixture.crop(100, 100)).size == canvas)
        #expect(try geometry(HEIFFixture.crop(4, 4, across: 9)).size == PixelSize(width: 2, height: 4))
        for content in [
            HEIFFixture.crop(0, 3), HEIFFixture.crop(4, 4, across: 100), [UInt8](repeating: 0, count: 32), [1, 2],
            [UInt8](repeating: 255, count: 32),
        ] {
            #expect(throws: LoadError.self) { try geometry(content) }
        }
    }
}
