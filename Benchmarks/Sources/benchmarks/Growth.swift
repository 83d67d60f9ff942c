import CAllocations
import Foundation
import Glibc
import Pipeline
import ProcessMemory
import Stages

/// Measures the cost of files that have very many of something: `benchmarks growth [NAME...]`.
///
/// Each kind is measured at three sizes, up to its limit, and compared with an ordinary file of the same format, coding
/// mode and pixels. Each file is decoded to 100 pixels in its own process. Printed are the CPU time, the peak memory
/// above that of the file, and the decoder's own estimate of it.
///
/// A row is marked if the cost grows faster than the size, if a file costs more than twice the ordinary one plus the
/// reading of its bytes, or if it takes more memory than estimated. The allowances are printed below the rows.
enum Growth {
    /// The noise in milliseconds, and the megabytes that the allocator and the engine hold.
    private static let (noise, slack) = (0.5, 2.0)
    /// The allowed cost of skipping a byte, since a file of many small pieces has more bytes than an ordinary one.
    private static let nanosecondsPerByte = 1.0
    /// How long a file is decoded repeatedly, in seconds. Its cost is the shortest time.
    private static let patience = 0.2

    static func run(_ words: [String]) async throws {
        if words.first == "one" { return try await measure(words[1], frames: words.count > 2 ? Int(words[2]) ?? 1 : 1) }
        print("  kind                             size      bytes    CPU ms   ordinary   peak MB   estimate MB")
        var (marks, pieces) = (0, [String]())
        for kind in try await GrowthKind.all() {
            guard words.isEmpty || words.contains(where: { kind.name.localizedCaseInsensitiveContains($0) }) else {
                continue
            }
            marks += try await report(kind)
            if let piece = kind.piece {
                pieces.append("  \(kind.name): \(piece.microseconds) µs each, because \(piece.reason).")
            }
        }
        print(
            """
            Times are the shortest of all decodes within \(patience) s, which reuse memory. Allowed: 2.5 times the previous \
            row, and twice the ordinary file, plus \(noise) ms of noise each; \(nanosecondsPerByte) ns for each byte more \
            than the ordinary file; \(slack) MB above the estimate.
            """)
        if !pieces.isEmpty { print("Also allowed:\n" + pieces.joined(separator: "\n")) }
        print(marks == 0 ? "No row is marked." : "\(marks) rows are marked.")
    }

    private static func report(_ kind: GrowthKind) async throws -> Int {
        let plain = try await kind.ordinary()
        let ordinary = try child(plain, kind)
        var costs: [Double] = []
        var marks = 0
        for size in kind.sizes {
            let bytes = try await kind.make(size)
            let result = try child(bytes, kind)
            costs.append(result.milliseconds)
            var words: [String] = result.code.map { ["refused: \($0)"] } ?? []
            // Each size is twice the previous one.
            if let last = costs.dropLast().last, result.milliseconds > 2.5 * last + noise { words.append("NOT LINEAR") }
            let reading = Double(max(0, bytes.count - plain.count)) * nanosecondsPerByte / 1e6
            let besides = Double(size) * (kind.piece?.microseconds ?? 0) / 1000
            if result.milliseconds > 2 * ordinary.milliseconds + reading + besides + noise {
                words.append("MORE THAN TWICE")
            }
            if result.code == nil, result.peak > result.estimate + slack { words.append("MORE MEMORY") }
            marks += words.count { $0.first?.isUppercase == true && $0 == $0.uppercased() }
            let name = kind.name + String(repeating: " ", count: max(1, 28 - kind.name.count))
            print(
                "  " + name
                    + String(
                        format: "%9d %10d %9.2f %10.2f %9.1f %13.1f  ", size, bytes.count, result.milliseconds,
                        ordinary.milliseconds, result.peak, result.estimate) + words.joined(separator: ", "))
            fflush(nil)
        }
        return marks
    }

    private struct Cost: Codable {
        let milliseconds, peak, estimate: Double
        let code: String?
    }

    /// Measures a file in its own process.
    private static func child(_ bytes: [UInt8], _ kind: GrowthKind) throws -> Cost {
        let file = FileManager.default.temporaryDirectory.appending(path: "growth-\(getpid())")
        try Data(bytes).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let process = Process()
        process.executableURL = URL(filePath: CommandLine.arguments[0])
        process.arguments = ["growth", "one", file.path(), "\(kind.frames)"]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            return Cost(milliseconds: .infinity, peak: 0, estimate: 0, code: "died \(process.terminationStatus)")
        }
        return try JSONDecoder().decode(Cost.self, from: output)
    }

    private static func measure(_ path: String, frames: Int) async throws {
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
        // Libraries are loaded on first use, which no file should pay for.
        let samples = URL(filePath: "Tests/Images/good")
        for name in ["heic-128.heif", "avif-photo.avif", "tiff-deflate-strip.tif", "png-basi2c08.png"] {
            _ = await decode([UInt8](try Data(contentsOf: samples.appending(path: name))), ImageLimits())
        }
        let limits = ImageLimits(frames: frames)
        var free = limits
        free.memory = 0
        let words = await decode(bytes, free)?.message.split(separator: " ") ?? []
        let estimate = words.firstIndex(of: "about").flatMap { Double(words[$0 + 1]) } ?? 0
        let idle = ProcessMemory.restartPeak()
        let error = await decode(bytes, limits)
        let peak = ProcessMemory.peak - idle
        // The cost of new pages depends on the machine's load.
        keep_free_memory()
        var (time, start) = (Double.infinity, Thumbnails.cpuSeconds())
        let end = start + patience
        repeat {
            _ = await decode(bytes, limits)
            let now = Thumbnails.cpuSeconds()
            (time, start) = (min(time, now - start), now)
        } while start < end
        let cost = Cost(
            milliseconds: time * 1000, peak: max(0, peak), estimate: estimate / 1_048_576,
            code: error.map { "\($0.code)" })
        FileHandle.standardOutput.write(try JSONEncoder().encode(cost))
    }

    private static func decode(_ bytes: [UInt8], _ limits: ImageLimits) async -> LoadError? {
        let pipeline = ImagePipeline {
            ReadInline()
            Decode(limits: limits)
        }
        do {
            _ = try await pipeline.load(ImageRequest(.bytes(bytes), maxPixelSize: 100))
            return nil
        } catch { return error as? LoadError }
    }
}
