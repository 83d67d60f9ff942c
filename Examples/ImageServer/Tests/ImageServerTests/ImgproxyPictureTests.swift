import Foundation
import HTTPTypes
import PipelineTesting
import Stages
import Testing

@testable import ImageServer
@testable import PipelineServer

/// The sizes and pixels were calculated by hand from imgproxy's documentation and order of work; the sizes of a 200×100
/// picture are also those of its own tests.
@Suite("imgproxy's paths give imgproxy's pictures", .timeLimit(.minutes(5)))
final class ImgproxyPictureTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "imgproxy-\(UUID().uuidString)")

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(Self.map).write(to: folder.appending(path: "map.bmp"))
        let clear = Picture.png(PixelSize(square: 20), with: [0, 0, 0, 0])
        try Data(clear).write(to: folder.appending(path: "clear.png"))
        let photograph = URL(filePath: #filePath).appending(
            path: "../../../../../Tests/Images/good/photo-12mp-baseline-420.jpg")
        try FileManager.default.copyItem(
            at: photograph.standardizedFileURL, to: folder.appending(path: "photo.jpg"))
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// A BMP of 200×100 pixels whose red is the column and whose green is the row.
    private static var map: [UInt8] {
        var rows: [UInt8] = []
        for row in (0..<100).reversed() {
            for column in 0..<200 { rows += [0, UInt8(row), UInt8(column)] }
        }
        func number(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        var file: [UInt8] = [0x42, 0x4D]
        // One plane of 24 bits a pixel; the six numbers after it are the defaults.
        for value: UInt32 in [60_054, 0, 54, 40, 200, 100, 1 | 24 << 16, 0, 0, 0, 0, 0, 0] { file += number(value) }
        return file + rows
    }

    private func withPictures(
        _ settings: [String] = [], _ body: (RunningServer) async throws -> Void
    ) async throws {
        try await withServer(["--unsigned", "--rate", "0", "--folder", folder.path] + settings) {
            (server: RunningServer) async throws in
            try await body(server)
        }
    }

    private func image(_ server: RunningServer, _ path: String) async throws -> DecodedImage {
        let answer = try await server.get("/imgproxy/any/\(path)")
        #expect(answer.status == 200, "\(path): \(answer.text.prefix(300))")
        let list = ImagePipeline {
            ReadInline()
            Decode()
        }
        return try #require(try await list.load(ImageRequest(.bytes(answer.body))).image)
    }

    /// The pixels' bytes, without the padding of a file.
    private func pixels(_ server: RunningServer, _ options: String, _ name: String = "map.bmp") async throws -> [UInt8]
    {
        let slash = options.isEmpty ? "" : "/"
        return try await image(server, "\(options)\(slash)plain/\(name)@png").frames[0].bytes
    }

    @Test("The size is imgproxy's, whatever the options' order and whichever of them name it")
    func sizes() async throws {
        let sizes: [(options: String, width: Int, height: Int)] = [
            ("w:30/rs:fit", 30, 15), ("rs:fit/w:30", 30, 15), ("rt:force/rs::30:20", 30, 20),
            ("rs::30:20/rt:force", 30, 20), ("rs:force:0:20", 200, 20), ("rs:force:30:0", 30, 100),
            ("el:1/rs:fit:806:0", 806, 403), ("rs:fit:806:0/el:1", 806, 403), ("rs:fit:806:0", 200, 100),
            ("el:1/rs:fit:806:0:0", 200, 100), ("w:30/w:40", 40, 20), ("rs:fit:40:40/s:20", 20, 10),
            ("rot:90/rot:0", 200, 100), ("rot:90", 100, 200), ("rot:90/w:50", 50, 100), ("w:50/rot:90", 50, 100),
            ("rot:450", 100, 200), ("fl:1/rot:180", 200, 100),
            ("rs:fill:300:50", 200, 50), ("rs:fill:300:300", 200, 100), ("rs:fill:300:125:1", 300, 125),
            ("rs:fill-down:300:125", 200, 83), ("rs:fill-down:250:300", 83, 100), ("rs:auto:50:20", 50, 20),
            ("rs:auto:20:50", 20, 10), ("w:50/dpr:2", 100, 50), ("w:150/dpr:2", 200, 100), ("dpr:0.5", 100, 50),
            ("w:300/dpr:0.5", 150, 75), ("w:50/z:2", 100, 50), ("w:50/z:2:3", 100, 75), ("w:20/mh:30", 20, 30),
            ("c:80:0.5", 80, 50), ("c:80:40/w:20", 20, 10), ("c:500:40", 200, 40), ("c:0:40", 200, 40),
            ("rs:fit:50:50/ex:1", 50, 50), ("rs:fit:300:125/exar:1", 240, 100), ("rs:fit:50:50:0:1:so", 50, 50),
            ("pd:10", 220, 120), ("pd:10:20", 240, 120), ("pd:10:20:30:40", 260, 140), ("w:50/dpr:2/pd:10", 140, 90),
            ("pd:10/pd:0", 200, 100),
        ]
        try await withPictures { (server: RunningServer) async throws in
            for (options, width, height) in sizes {
                let size = try await image(server, "\(options)/plain/map.bmp@png").size
                #expect(size == PixelSize(width: width, height: height), "\(options)")
            }
            // Of a photograph, which is decoded reduced.
            for (options, width, height) in [
                ("w:300/rs:fit", 300, 221), ("rt:force/rs::300:200", 300, 200), ("rs:force:0:200", 4032, 200),
                ("c:800:800/w:100", 100, 100), ("rot:90/w:221", 221, 299), ("rs:fill:300:300/g:no", 300, 300),
            ] {
                let size = try await image(server, "\(options)/plain/photo.jpg@png").size
                #expect(size == PixelSize(width: width, height: height), "\(options) of the photograph")
            }
        }
    }

    @Test("A cut keeps imgproxy's part: a crop has the gravity of all cuts unless it names its own")
    func parts() async throws {
        let parts: [(options: String, column: Int, row: Int)] = [
            ("c:80:40", 60, 30), ("c:80:40/g:nowe", 0, 0), ("g:nowe/c:80:40", 0, 0), ("c:80:40:soea", 120, 60),
            ("c:80:40:soea/g:nowe", 120, 60), ("c:80:40:nowe:10:20", 10, 20), ("c:80:40:nowe:0.1:0.2", 20, 20),
            ("c:80:40:soea:10:20", 110, 40), ("c:80:40:ce:-10:5", 50, 35), ("c:80:40/g:no:10:5", 70, 5),
            ("c:80:40:nowe:500:500", 120, 60), ("c:40:40:fp:0.25:0.5", 30, 30), ("c:40:40/g:fp:0:0", 0, 0),
            ("rs:fill:100:100/g:ea", 100, 0), ("rs:fill:100:100/g:we:10", 10, 0), ("c:0.5:0.5:soea", 100, 50),
            ("c:80:40:nowe/fl:1", 199, 0), ("fl:0:1", 0, 99), ("rot:180", 199, 99), ("c:80:40:nowe/rot:90", 0, 99),
        ]
        try await withPictures { (server: RunningServer) async throws in
            for (options, column, row) in parts {
                let corner = try await pixels(server, options).prefix(3)
                #expect(Array(corner) == [UInt8(column), UInt8(row), 0], "\(options)")
            }
        }
    }

    @Test("The last of equal options counts, and one that is switched off leaves no trace")
    func lastCounts() async throws {
        try await withPictures(["--imgproxy-preset", "half=w:100"]) { (server: RunningServer) async throws in
            for (options, same) in [
                ("bl:5/bl:0", ""), ("bl:3/bl:3", "bl:3"), ("sh:1/sh:0", ""), ("rot:90/rot:0", ""), ("fl:1/fl:0", ""),
                ("c:80:40/c:0:0", ""), ("c:80:40/c:60:30", "c:60:30"), ("bg:255:0:0/bg:", ""), ("ex:1/ex:0", ""),
                ("sh:1/bl:2", "bl:2/sh:1"), ("pr:half", "w:100"),
            ] {
                // Printing the difference of two arrays of pixels would take a minute.
                let isEqual = try await pixels(server, options) == pixels(server, same)
                #expect(isEqual, "\(options) and \(same)")
            }
            let blue = try await pixels(server, "bg:255:0:0/bg:0:0:255", "clear.png")
            #expect(Array(blue.prefix(3)) == [0, 0, 255])
            let pink = try await pixels(server, "bg:f08", "clear.png")
            #expect(Array(pink.prefix(3)) == [255, 0, 136])
            #expect(try await pixels(server, "bg:f00/bg:", "clear.png").prefix(4).last == 0)
        }
    }

    @Test("A background lies behind padding, which is transparent without one")
    func padding() async throws {
        try await withPictures { (server: RunningServer) async throws in
            let red = try await pixels(server, "pd:10/bg:ff0000")
            #expect(Array(red.prefix(3)) == [255, 0, 0])
            #expect(Array(try await pixels(server, "pd:10").prefix(4)) == [0, 0, 0, 0])
            let low = try await image(server, "rs:fit:50:50/ex:1:so/bg:00f/plain/map.bmp@png")
            #expect(low.size == PixelSize(square: 50))
            let corner = Array(low.frames[0].bytes.prefix(3))
            let middle = Array(low.frames[0].bytes[(26 * 50 * 3)..<(26 * 50 * 3 + 3)])
            #expect(corner == [0, 0, 255] && middle[2] == 0)
        }
    }

    @Test("The preset `default` comes before the options of every path")
    func defaultPreset() async throws {
        let presets = ["default=w:50/bl:2", "small=pr:tiny/q:60", "tiny=w:20/pr:small"].flatMap {
            ["--imgproxy-preset", $0]
        }
        try await withPictures(presets) { (server: RunningServer) async throws in
            #expect(try await image(server, "plain/map.bmp@png").width == 50)
            #expect(try await image(server, "w:80/plain/map.bmp@png").width == 80)
            #expect(try await image(server, "pr:small/plain/map.bmp@png").width == 20)
            let isBlurred = try await pixels(server, "w:80/bl:0") != pixels(server, "w:80")
            #expect(isBlurred)
        }
    }

    @Test("A file is named as the path says, with the format's extension")
    func fileNames() async throws {
        try await withPictures { (server: RunningServer) async throws in
            for (options, name) in [
                ("fn:photo", "photo.png"), ("fn:cGhvdG8:1", "photo.png"), ("fn:cGhvdG8:0", "cGhvdG8.png"),
                ("fn:a/fn:b", "b.png"), ("cb:1", "map.png"), ("fn:", "map.png"),
            ] {
                let answer = try await server.get("/imgproxy/any/\(options)/plain/map.bmp@png")
                #expect(answer.fields[.contentDisposition] == "inline; filename=\"\(name)\"", "\(options)")
            }
            let file = try await server.get("/imgproxy/any/att:1/fn:b/plain/map.bmp@png")
            #expect(file.fields[.contentDisposition] == "attachment; filename=\"b.png\"")
        }
    }

    @Test("Of a picture that can't be made like imgproxy's, the client gets a 400 that names the option")
    func refusals() async throws {
        try await withPictures { (server: RunningServer) async throws in
            for (path, word) in [
                ("rot:45/plain/map.bmp", "rot:45"), ("wm:0.5/plain/map.bmp", "wm:0.5"), ("t:-1/plain/map.bmp", "t:-1"),
                ("pix:5/plain/map.bmp", "pix:5"), ("raw:1/plain/map.bmp", "raw:1"), ("ph:1/plain/map.bmp", "ph:1"),
                ("sm:0/plain/map.bmp", "sm:0"), ("eth:1/plain/map.bmp", "eth:1"), ("w:9000/plain/map.bmp", "w:9000"),
                ("dpr:0/plain/map.bmp", "dpr:0"), ("pr:none/plain/map.bmp", "none"), ("nothing:1/plain/a", "nothing"),
                ("bWFwLmJtcA.png/x.png/y.png", "base64"),
            ] {
                let answer = try await server.get("/imgproxy/any/\(path)")
                #expect(answer.status == 400 && answer.text.contains(word), "\(path): \(answer.text)")
            }
        }
    }

    @Test("Paths that a proxy has rewritten, and base64 with a file name, ask for the same picture")
    func rewrittenPaths() async throws {
        try await withPictures { (server: RunningServer) async throws in
            let expected = try await pixels(server, "w:50")
            // bWFwLmJtcA is base64url of the picture's name.
            for path in [
                "w%3A50/plain/map.bmp@png", "w:50/plain/local:/map.bmp@png", "w:50/plain/local:///map.bmp@png",
                "w:50/bWFwLmJtcA.png", "w:50/bWFw/LmJtcA.png", "w:50/bWFwLmJtcA.png/puppy.jpg",
                "w%3A50/bWFwLmJtcA.png", "w:50/bWFwLmJtcA==.png",
            ] {
                let isEqual = try await image(server, path).frames[0].bytes == expected
                #expect(isEqual, "\(path)")
            }
        }
    }

    @Test("A file whose format isn't to be processed is passed on, unless the path asks for another format")
    func skipping() async throws {
        let file = try [UInt8](Data(contentsOf: folder.appending(path: "clear.png")))
        try await withPictures { (server: RunningServer) async throws in
            for options in ["skp:png", "skp:jpg:png/w:5", "skp:jpg/skip_processing:png/f:png"] {
                let answer = try await server.get("/imgproxy/any/\(options)/plain/clear.png", [.accept: "image/webp"])
                #expect(answer.body == file && answer.fields[.contentType] == "image/png", "\(options)")
            }
            for (path, type) in [
                ("skp:png/w:5/plain/clear.png@webp", "image/webp"), ("skp:jpg/w:5/plain/clear.png@png", "image/png"),
                ("skp:png/w:5/plain/map.bmp@jpg", "image/jpeg"),
            ] {
                let answer = try await server.get("/imgproxy/any/\(path)")
                #expect(answer.fields[.contentType] == type, "\(path)")
                #expect(try await image(server, path).width == 5, "\(path)")
            }
        }
    }

    @Test("Sharpening changes edges as libvips does, and leaves smooth parts")
    func sharpening() throws {
        let row = [UInt8](repeating: 100, count: 20) + [UInt8](repeating: 150, count: 20)
        let image = DecodedImage(size: PixelSize(width: 40, height: 1), layout: .gray, pixels: row)
        let sharp = try ImgproxySharpen(sigma: 1).transformed(image, WorkCancellation())
        let pixels = try sharp.withPixels { Array($0) }
        #expect(pixels[..<16] == row[..<16] && pixels[24...] == row[24...])
        // libvips 8.14 makes 72 and 177 of them.
        #expect(abs(Int(pixels[19]) - 72) <= 2 && abs(Int(pixels[20]) - 177) <= 2)
    }
}
