import CAllocations
import Foundation
import Glibc
import Pipeline
import Stages

/// Checks that work can be interrupted at any moment: `benchmarks interrupt [CANCELLATIONS [TIME-LIMITS [NAME...]]]`,
/// 1,000 and 200 by default.
///
/// Pictures as cameras and phones write them are decoded, whole and to 300 pixels, and written in each format. Each job
/// is cancelled at random moments, and ended by random time limits. A load must not continue for more than 50 ms after
/// that, except while writing AVIF. More allocated memory at the end than after the first tenth is a leak. Reaching the
/// end shows that nothing crashed.
enum Interruptions {
    /// The CPU milliseconds for which a load may continue, and the megabytes that libraries and threads may keep.
    private static let (allowed, slack) = (50.0, 4.0)

    private struct Result {
        var (interrupted, finished) = (0, 0)
        var (latest, latestWall) = (0.0, 0.0)
    }

    typealias Work = @Sendable (Duration?) async throws -> Void

    static func run(_ words: [String]) async throws {
        let counts = words.prefix(2).compactMap { Int($0) }
        let names = words.dropFirst(counts.count)
        let (cancellations, limits) = (counts.first ?? 1000, counts.dropFirst().first ?? 200)
        print("\(cancellations) cancellations and \(limits) time limits of each, at random moments:")
        print("  whole ms   latest ms  (wall)   stopped  finished   MB more")
        var failures = 0
        func isChosen(_ name: String) -> Bool {
            names.isEmpty || names.contains { name.localizedCaseInsensitiveContains($0) }
        }
        for file in try InterruptedFiles.all() {
            let bytes = [UInt8](try Data(contentsOf: file))
            for box in [nil, PixelSize(square: 300)] {
                let name = "decode \(file.lastPathComponent)\(box == nil ? "" : " to 300")"
                guard isChosen(name) else { continue }
                failures += try await trial(name, cancellations, limits, mayBeLate: false) { time in
                    let limits = ImageLimits(
                        pixels: .max, encodedBytes: .max, frames: 20, memory: .max, time: time)
                    _ = try await ImagePipeline {
                        ReadInline()
                        Decode(limits: limits, budget: MemoryBudget(bytes: .max))
                    }.load(ImageRequest(.bytes(bytes), maxPixelSize: box))
                }
            }
        }
        for (name, encode) in try await encodings() where isChosen(name) {
            failures += try await trial(name, cancellations, limits, mayBeLate: name.contains("AVIF"), encode)
        }
        print(failures == 0 ? "Nothing was late, and nothing leaked." : "\(failures) rows are marked.")
        if failures > 0 { exit(1) }
    }

    /// Jobs that write a photograph of three megapixels in each format.
    private static func encodings() async throws -> [(String, Work)] {
        let photograph = URL(filePath: "Tests/Images/good/photo-12mp-baseline-420.jpg")
        let png =
            try await ImagePipeline {
                ReadInline()
                Decode()
                Downscale()
                Encode(.png)
            }.load(ImageRequest(.bytes([UInt8](try Data(contentsOf: photograph))), maxPixelSize: 2000)).encoded?.bytes
            ?? []
        let formats: [(String, ImageFormat)] = [
            ("JPEG", .jpeg), ("PNG", .png), ("WebP", .webp), ("GIF", .gif), ("TIFF", .tiff), ("AVIF", .avif),
        ]
        return formats.map { name, format in
            let work: Work = { time in
                var options = EncodeOptions()
                options.avif.effort = 0
                // The limit applies to each stage, and the decode takes less.
                _ = try await ImagePipeline {
                    ReadInline()
                    Decode(limits: ImageLimits(time: time))
                    Encode(format, options: options)
                }.load(ImageRequest(.bytes(png)))
            }
            return ("encode \(name)", work)
        }
    }

    private static func trial(
        _ name: String, _ cancellations: Int, _ limits: Int, mayBeLate: Bool, _ work: @escaping Work
    ) async throws -> Int {
        // The first run loads the libraries.
        try await work(nil)
        let start = SystemClock().uptime
        try await work(nil)
        let whole = SystemClock().uptime - start
        let beginning = try await Self.start(of: work)
        var generator = SystemRandomNumberGenerator()
        var result = Result()
        var early = 0.0
        for index in 0..<cancellations + limits {
            if index == (cancellations + limits) / 10 { early = try await settled() }
            let moment = whole * Double.random(in: 0..<1, using: &generator)
            let late =
                index < cancellations
                ? try await cancelled(after: moment, work) : try await limited(to: moment, start: beginning, work)
            guard let late else {
                result.finished += 1
                continue
            }
            result.interrupted += 1
            result.latest = max(result.latest, late.processor)
            result.latestWall = max(result.latestWall, late.wall)
        }
        let more = try await settled() - early
        var words: [String] = []
        if result.latest > allowed, !mayBeLate { words.append("LATE") }
        if more > slack { words.append("LEAK") }
        print(
            String(
                format: "%10.0f %11.1f %7.1f %9d %9d %9.1f  ", whole / .milliseconds(1), result.latest,
                result.latestWall,
                result.interrupted, result.finished, more) + name + words.map { "  \($0)" }.joined())
        fflush(nil)
        return words.count
    }

    private typealias Lateness = (processor: Double, wall: Double)

    /// Returns how long the load continued after its cancellation, in milliseconds; `nil` if it ended before.
    private static func cancelled(after delay: Duration, _ work: @escaping Work) async throws -> Lateness? {
        let clock = SystemClock()
        let task = Task { try await work(nil) }
        let watch = Task {
            try await Task.sleep(for: delay)
            let now = (clock.uptime, Thumbnails.cpuSeconds())
            task.cancel()
            return now
        }
        let result = await task.result
        let (end, used) = (clock.uptime, Thumbnails.cpuSeconds())
        watch.cancel()
        guard case .failure(let error) = result else { return nil }
        guard error is CancellationError, let (then, before) = try? await watch.value else { throw error }
        return ((used - before) * 1000, (end - then) / .milliseconds(1))
    }

    /// Returns how long the load continued after its time limit, in milliseconds; `nil` if it ended before.
    /// - Parameter start: The time before the limit starts to count, such as for hashing the bytes.
    private static func limited(
        to time: Duration, start: Duration, _ work: @escaping Work
    ) async throws -> Lateness? {
        let clock = SystemClock()
        let began = clock.uptime
        let watch = Task {
            try await Task.sleep(for: start + time)
            return Thumbnails.cpuSeconds()
        }
        do {
            try await work(time)
            watch.cancel()
            return nil
        } catch let error as LoadError where error.code == .tooMuchTime {
            let (wall, used) = (clock.uptime - began - time - start, Thumbnails.cpuSeconds())
            watch.cancel()
            guard let before = try? await watch.value else { return (0, wall / .milliseconds(1)) }
            return ((used - before) * 1000, wall / .milliseconds(1))
        }
    }

    /// Returns how long it takes until a load without any time fails.
    private static func start(of work: @escaping Work) async throws -> Duration {
        let began = SystemClock().uptime
        do { try await work(.nanoseconds(1)) } catch let error as LoadError where error.code == .tooMuchTime {}
        return SystemClock().uptime - began
    }

    /// Waits until all work left behind has ended, and returns the allocated megabytes.
    private static func settled() async throws -> Double {
        while true {
            let before = Thumbnails.cpuSeconds()
            try await Task.sleep(for: .milliseconds(20))
            if Thumbnails.cpuSeconds() - before < 0.005 { return Double(allocated_bytes()) / 1_048_576 }
        }
    }
}
