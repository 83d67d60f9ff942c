import Foundation

/// Files of up to 100 megapixels in all formats, made once with libvips-tools.
enum CancellationFiles {
    /// The files made from the photograph, each with a `vips` command and its options. Formats that are slow to write
    /// get a smaller picture.
    private static let made: [(name: String, source: String, words: [String])] = [
        ("baseline.jpg", "100", ["jpegsave"]), ("progressive.jpg", "100", ["jpegsave", "--interlace"]),
        ("plain.png", "100", ["pngsave", "--compression", "1"]),
        ("small.png", "9", ["pngsave", "--compression", "1"]),
        ("interlaced.png", "25", ["pngsave", "--compression", "1", "--interlace"]),
        ("deep.png", "deep", ["pngsave", "--compression", "1", "--bitdepth", "16"]),
        ("lossy.webp", "100", ["webpsave", "--effort", "0"]),
        ("lossless.webp", "25", ["webpsave", "--lossless", "--effort", "0"]),
        ("moving.webp", "frames", ["webpsave", "--effort", "0"]),
        ("frame.gif", "100", ["gifsave", "--effort", "1", "--dither", "0", "--bitdepth", "6"]),
        ("moving.gif", "frames", ["gifsave", "--effort", "1", "--dither", "0", "--bitdepth", "6"]),
        ("strip.tif", "100", ["tiffsave", "--compression", "deflate", "--tile-height", "32768"]),
        ("strips.tif", "100", ["tiffsave", "--compression", "deflate"]),
        ("tiles.tif", "100", ["tiffsave", "--compression", "deflate", "--tile"]),
        ("jpeg-strip.tif", "100", ["tiffsave", "--compression", "jpeg", "--tile-height", "32768"]),
        ("jpeg-tiles.tif", "100", ["tiffsave", "--compression", "jpeg", "--tile"]),
        ("plain.tif", "100", ["tiffsave"]), ("modular.jxl", "25", ["jxlsave", "--effort", "3"]),
    ]

    static func all() throws -> [URL] {
        let photograph = "Tests/Images/good/photo-12mp-baseline-420.jpg"
        let folder = FileManager.default.temporaryDirectory.appending(path: "pipeline-cancellation")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        func path(_ name: String) -> String { folder.appending(path: name).path() }
        let sources = [
            ("100", ["resize", photograph, path("100.v"), "2.89"]),
            ("25", ["resize", photograph, path("25.v"), "1.445"]),
            ("9", ["resize", photograph, path("9.v"), "0.86"]),
            ("deep", ["cast", path("25.v"), path("deep.v"), "ushort", "--shift"]),
            ("frames", ["replicate", path("9.v"), path("frames.v"), "1", "5"]),
        ]
        for (name, words) in sources where !FileManager.default.fileExists(atPath: path("\(name).v")) {
            try vips(words)
        }
        return try made.map { name, source, words in
            let file = folder.appending(path: name)
            if !FileManager.default.fileExists(atPath: file.path()) {
                let pages = source == "frames" ? ["--page-height", "2559"] : []
                try vips([words[0], path("\(source).v"), file.path()] + words.dropFirst() + pages)
            }
            return file
        } + [try runLengthBitmap(in: folder), try drawing(in: folder)]
    }

    private static func vips(_ words: [String]) throws {
        let process = try Process.run(URL(filePath: "/usr/bin/env"), arguments: ["vips"] + words)
        process.waitUntilExit()
        if process.terminationStatus != 0 { print("vips \(words.joined(separator: " ")) failed") }
    }

    /// Makes a run-length encoded 8-bit bitmap, which none of the tools writes.
    private static func runLengthBitmap(in folder: URL) throws -> URL {
        let (width, height) = (10_000, 10_000)
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        var file = Array("BM".utf8) + number(0, 8) + number(54 + 1024, 4)
        file += number(40, 4) + number(width, 4) + number(height, 4) + number(1, 2) + number(8, 2) + number(1, 4)
        file += number(0, 20) + (0..<256).flatMap { [UInt8($0), UInt8($0), UInt8($0), 0] }
        for y in 0..<height {
            for x in 0..<width / 2 { file += [2, UInt8(truncatingIfNeeded: x + y)] }
            file += [0, 0]
        }
        let url = folder.appending(path: "runs.bmp")
        try Data(file).write(to: url)
        return url
    }

    /// Makes a drawing of many shapes.
    private static func drawing(in folder: URL) throws -> URL {
        let shapes = (0..<2_000).map { index in
            "<circle cx='\(index * 37 % 10_000)' cy='\(index * 91 % 10_000)' r='\(index % 300)' fill='#\(100 + index % 800)' "
                + "fill-opacity='.5'/>"
        }
        let url = folder.appending(path: "shapes.svg")
        let text = "<svg xmlns='http://www.w3.org/2000/svg' width='10000' height='10000'>\(shapes.joined())</svg>"
        try Data(text.utf8).write(to: url)
        return url
    }
}
