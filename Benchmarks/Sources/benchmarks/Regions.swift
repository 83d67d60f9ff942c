import Foundation
import Pipeline
import ProcessMemory
import Stages

/// Compares decoding only the region that a crop keeps with decoding the whole picture: a tenth of 40 megapixels,
/// resized to 300 pixels. Each row is measured in its own processes.
enum Regions {
    private static let size = PixelSize(width: 7744, height: 5168)
    private static let part = PixelSize(width: 2448, height: 1634)

    static func run() async throws {
        print("A crop of \(part) of \(size), then 300 pixels; ratios to decoding the whole picture")
        print("file          place     CPU            memory           the crop's pixels")
        for file in try files() {
            // The lowest crop of the upper half, and the lowest of all.
            for (place, y) in [("upper", size.height / 2 - part.height), ("lowest", size.height - part.height)] {
                let whole = try measured(file, "whole", y)
                let region = try measured(file, "region", y)
                print(
                    String(
                        format: "%@ %@ %4.0f ms %4.2f   %6.1f MB %5.3f  %@",
                        file.lastPathComponent.padding(toLength: 13, withPad: " ", startingAt: 0),
                        place.padding(toLength: 7, withPad: " ", startingAt: 0), region[0], region[0] / whole[0],
                        region[1],
                        region[1] / whole[1], try await difference(file, y)))
            }
        }
    }

    /// Prints the least CPU time of some runs in milliseconds, and the first run's peak in MB above the idle process.
    static func measure(_ path: String, _ mode: String, y: Int) async throws {
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
        let list = try Self.list(mode, y, Resize(300))
        // Loads libraries and makes tables.
        _ = try await Self.list("region", 0, Crop(1)).load(ImageRequest(.bytes(bytes)))
        let idle = ProcessMemory.restartPeak()
        var (peak, least) = (0.0, Double.infinity)
        for _ in 0..<3 {
            let start = Thumbnails.cpuSeconds()
            _ = try await list.load(ImageRequest(.bytes(bytes)))
            least = min(least, (Thumbnails.cpuSeconds() - start) * 1000)
            if peak == 0 { peak = ProcessMemory.peak - idle }
        }
        print(least, peak)
    }

    /// Keeps `Decode` from seeing what comes after it.
    private struct Curtain: Stage {
        let accepts: Phases = .decoded
        func run(_ load: inout Load) async throws -> Outcome { .skipped }
    }

    private static func list(_ mode: String, _ y: Int, _ last: any Stage) throws -> ImagePipeline {
        let crop = Crop(x: 1533, y: y, width: part.width, height: part.height)
        return try ImagePipeline(
            validating: Chain([ReadInline(), Decode()] + (mode == "whole" ? [Curtain()] : []) + [crop, last]))
    }

    private static func measured(_ file: URL, _ mode: String, _ y: Int) throws -> [Double] {
        let (child, output) = (Process(), Pipe())
        child.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        child.arguments = ["region", file.path(), mode, "\(y)"]
        child.standardOutput = output
        try child.run()
        let words = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        child.waitUntilExit()
        let numbers = words.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        return numbers.count == 2 ? numbers : [.nan, .nan]
    }

    /// Returns how the crop alone, and the crop at 300 pixels, differ from those of the whole picture.
    private static func difference(_ file: URL, _ y: Int) async throws -> String {
        let request = ImageRequest(.bytes([UInt8](try Data(contentsOf: file))))
        func pixels(_ mode: String, _ last: any Stage) async throws -> (bytes: [UInt8], row: Int) {
            guard let image = try await list(mode, y, last).load(request).image else { return ([], 1) }
            return (try image.withPixels { Array($0) }, image.width * image.layout.channelCount)
        }
        var texts: [String] = []
        for (name, last) in [("alone", Curtain() as any Stage), ("at 300", Resize(300))] {
            let (one, other) = (try await pixels("region", last), try await pixels("whole", last))
            let rows = one.bytes.count / one.row
            let channels = one.row / (name == "alone" ? part.width : 300)
            var most = 0
            for (index, (a, b)) in zip(one.bytes, other.bytes).enumerated() where a != b {
                let (row, column) = (index / one.row, index % one.row / channels)
                guard (8..<rows - 8).contains(row), (8..<one.row / channels - 8).contains(column) else { continue }
                most = max(most, abs(Int(a) - Int(b)))
            }
            texts.append(one.bytes.count == other.bytes.count ? "\(name) differ by \(most)" : "\(name) of another size")
        }
        return texts.joined(separator: ", ")
    }

    /// Returns files of four copies of the tests' photograph, made once with libvips-tools.
    private static func files() throws -> [URL] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "pipeline-regions")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        func path(_ name: String) -> String { folder.appending(path: name).path() }
        let photograph = "Tests/Images/good/photo-12mp-baseline-420.jpg"
        let made: [(name: String, words: [String])] = [
            ("four.v", ["replicate", photograph, path("four.v"), "2", "2"]),
            (
                "large.v",
                ["extract_area", path("four.v"), path("large.v"), "0", "0", "\(size.width)", "\(size.height)"]
            ),
            ("40.jpg", ["jpegsave", path("large.v"), path("40.jpg"), "--Q", "85"]),
            ("tiles.tif", ["tiffsave", path("large.v"), path("tiles.tif"), "--compression", "deflate", "--tile"]),
            ("strips.tif", ["tiffsave", path("large.v"), path("strips.tif"), "--compression", "deflate"]),
            ("40.webp", ["webpsave", path("large.v"), path("40.webp"), "--Q", "85", "--effort", "2"]),
            ("40.png", ["pngsave", path("large.v"), path("40.png"), "--compression", "1", "--filter", "all"]),
        ]
        for (name, words) in made where !FileManager.default.fileExists(atPath: path(name)) {
            let process = try Process.run(URL(filePath: "/usr/bin/env"), arguments: ["vips"] + words)
            process.waitUntilExit()
            if process.terminationStatus != 0 { print("vips \(words.joined(separator: " ")) failed") }
        }
        return made.map { folder.appending(path: $0.name) }.filter { $0.pathExtension != "v" }
    }
}
