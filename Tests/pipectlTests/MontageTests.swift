import Foundation
import Pipeline
import Stages
import Testing

@testable import PipelineCommand

@Suite("pipectl montage")
struct MontageTests {
    private let pipectl: Pipectl

    init() throws {
        pipectl = try Pipectl()
        try pipectl.add("good/jpeg-progressive-444.jpg", as: "album/a.jpg")
        try pipectl.add("good/webp-lossy-alpha.webp", as: "album/b.webp")
        try pipectl.add("good/jpeg-greyscale.jpg", as: "album/c.jpg")
    }

    @Test("puts images in rows of tiles")
    func sheet() async throws {
        let result = try await pipectl.shell("pipectl montage album -o sheet.png -s 50x40 --columns 2 --gap 4")
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.text.hasPrefix("3 images → sheet.png: 112×92, "))
        let filled = try await pipectl.shell(
            "pipectl montage album/a.jpg album/c.jpg -o s.webp -s 30 --fill --gap 0 --background clear --json")
        let object = try #require(try filled.objects().first, "\(filled.errors)")
        #expect(object["width"] as? Int == 60 && object["height"] as? Int == 30 && object["images"] as? Int == 2)
        #expect(
            Set(object.keys) == ["images", "failed", "status", "output", "reason", "width", "height", "bytes", "error"])
    }

    @Test("an image that can't be read leaves its tile empty, and the status is 1")
    func failures() async throws {
        let result = try await pipectl.shell("pipectl montage album/a.jpg none.jpg -o sheet.png -s 20 --gap 0 --json")
        #expect(result.status == 1)
        #expect(result.errors.contains("none.jpg"))
        #expect(try result.objects().first?["failed"] as? Int == 1)
        #expect(pipectl.exists("sheet.png"))
        let ended = try await pipectl.shell("pipectl montage none.jpg album/a.jpg -o other.png --fail-fast")
        #expect(ended.status == 1 && !pipectl.exists("other.png"))
    }

    @Test(
        "says what is wrong",
        arguments: [
            ("album -o sheet.png --max-pixels 1K", 1, "--max-pixels"), ("album -o sheet.png --gap -1", 2, "--gap"),
            ("album -o sheet.png --columns 0", 2, "--columns"), ("album -o sheet.png -s 0", 2, "tile"),
            ("album -o sheet.png --background nice", 2, "--background"), ("- -o sheet.png", 2, "files"),
            ("album -o sheet.xyz", 1, "extension"), ("album", 2, "output"), ("empty -o a.png", 2, "no images"),
        ])
    func refusals(arguments: String, status: Int, expected: String) async throws {
        let result = try await pipectl.shell("mkdir empty; pipectl montage \(arguments)")
        #expect(result.status == Int32(status), "\(result.errors)")
        #expect(result.errors.contains(expected), "\(result.errors)")
    }

    @Test("overwrites nothing unless told")
    func overwriting() async throws {
        let result = try await pipectl.shell("touch sheet.png; pipectl montage album -o sheet.png")
        #expect(result.status == 1 && result.errors.contains("-y"))
        #expect(try pipectl.content("sheet.png").isEmpty)
    }

    @Test("draws each tile in its place")
    func places() throws {
        let sheet = ContactSheet(
            tile: PixelSize(width: 1, height: 1), columns: 2, rows: 2, gap: 1, background: .white)
        let size = try #require(sheet.size)
        #expect(size == PixelSize(width: 5, height: 5))
        var pixels = sheet.pixels(size)
        let tile = DecodedImage(size: sheet.tile, layout: .gray, pixels: [7])
        try sheet.draw(tile, at: 2, into: &pixels, width: size.width)
        #expect(Array(pixels[4 * (3 * 5 + 1)..<4 * (3 * 5 + 2)]) == [7, 7, 7, 255])
        #expect(pixels.count { $0 == 7 } == 3)
        let huge = ContactSheet(tile: sheet.tile, columns: .max, rows: 1, gap: .max, background: .white)
        #expect(huge.size == nil)
    }
}
