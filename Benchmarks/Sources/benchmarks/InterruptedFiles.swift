import Foundation

/// Pictures as cameras and phones write them, made once from the tests' photograph with libvips-tools and
/// libheif-examples.
enum InterruptedFiles {
    private static let photograph = "Tests/Images/good/photo-12mp-baseline-420.jpg"

    static func all() throws -> [URL] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "pipeline-interrupted")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        func path(_ name: String) -> String { folder.appending(path: name).path() }
        let made: [(name: String, words: [String])] = [
            ("small.v", ["vips", "resize", photograph, path("small.v"), "0.3"]),
            ("frames.v", ["vips", "replicate", path("small.v"), path("frames.v"), "1", "6"]),
            ("deep.v", ["vips", "cast", photograph, path("deep.v"), "ushort", "--shift"]),
            ("progressive.jpg", ["vips", "jpegsave", photograph, path("progressive.jpg"), "--interlace"]),
            (
                "restarting.jpg",
                ["vips", "jpegsave", photograph, path("restarting.jpg"), "--restart-interval", "16"]
            ),
            (
                "deep.png",
                ["vips", "pngsave", path("deep.v"), path("deep.png"), "--compression", "1", "--bitdepth", "16"]
            ),
            ("tiled.tif", ["vips", "tiffsave", photograph, path("tiled.tif"), "--compression", "deflate", "--tile"]),
            ("moving.webp", ["vips", "webpsave", path("frames.v"), path("moving.webp"), "--page-height", "893"]),
            ("moving.gif", ["vips", "gifsave", path("frames.v"), path("moving.gif"), "--page-height", "893"]),
            (
                "still.avif",
                ["vips", "heifsave", photograph, path("still.avif"), "--compression", "av1", "--effort", "0"]
            ),
            ("12.heic", ["python3", "Benchmarks/Peers/heic.py", photograph, path("12.heic"), "4032", "3024"]),
            ("48.heic", ["python3", "Benchmarks/Peers/heic.py", photograph, path("48.heic"), "8064", "6048"]),
        ]
        for (name, words) in made where !FileManager.default.fileExists(atPath: path(name)) {
            let process = try Process.run(URL(filePath: "/usr/bin/env"), arguments: words)
            process.waitUntilExit()
            if process.terminationStatus != 0 { print("\(words.joined(separator: " ")) failed") }
        }
        return made.map { folder.appending(path: $0.name) }.filter {
            $0.pathExtension != "v" && FileManager.default.fileExists(atPath: $0.path())
        } + [URL(filePath: "Tests/Images/generated/animated.avif")]
    }
}
