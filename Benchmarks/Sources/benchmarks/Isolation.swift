import Foundation
import Pipeline
import PipelineIsolation
import ProcessMemory
import Stages

/// Compares decoding in isolated processes with decoding in this process, in turn.
enum Isolation {
    private static let photograph = "Tests/Images/good/photo-12mp-baseline-420.jpg"

    static func run() async throws {
        let helper = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "pipeline-decoder").path()
        let pool = try await DecoderPool(helper: helper)
        let isolated = try ImageCodecs.standard.isolated(in: pool)
        print("\(pool.workers) workers, confined by: \(pool.confinement)")
        let large = [UInt8](try Data(contentsOf: URL(filePath: photograph)))
        let small = try await EncodedImage(
            encoding: DecodedImage(decoding: large, maxPixelSize: 300), as: .jpeg,
            options: EncodeOptions(quality: 85)
        ).bytes
        try await printLatency(small, isolated)
        for quality in [DecodeQuality.fast, .quality] { try await printThroughput(large, isolated, quality) }
        try await printMemory(isolated)
        await pool.close()
    }

    private static func pipeline(_ codecs: ImageCodecs, _ quality: DecodeQuality = .quality) -> ImagePipeline {
        ImagePipeline {
            ReadInline()
            Decode(codecs: codecs, quality: quality)
            Downscale()
        }
    }

    /// Prints the median time of one decode, each of many in the process followed by one in a worker.
    private static func printLatency(_ bytes: [UInt8], _ isolated: ImageCodecs) async throws {
        let (here, there) = (pipeline(.standard), pipeline(isolated))
        let request = ImageRequest(.bytes(bytes))
        func time(_ pipeline: ImagePipeline) async throws -> Double {
            let start = SystemClock().uptimeNanoseconds
            _ = try await pipeline.load(request)
            return Double(SystemClock().uptimeNanoseconds - start) / 1000
        }
        var (times, others): ([Double], [Double]) = ([], [])
        for round in 0..<3000 {
            let (one, other) = (try await time(here), try await time(there))
            guard round >= 500 else { continue }
            times.append(one)
            others.append(other)
        }
        print(
            String(
                format: "A JPEG of 300 pixels, %d bytes: %.0f µs in the process, %.0f µs isolated, %.0f µs more",
                bytes.count, median(times), median(others), median(others) - median(times)))
    }

    /// Prints CPU time and throughput as parts of those in this process: the medians of 40 pairs of neighbouring turns, so that
    /// a machine that is slower for a while is slower for both.
    private static func printThroughput(
        _ bytes: [UInt8], _ isolated: ImageCodecs, _ quality: DecodeQuality
    ) async throws {
        let (here, there) = (pipeline(.standard, quality), pipeline(isolated, quality))
        let images = 30
        func turn(_ list: ImagePipeline) async throws -> (wall: Double, cpu: Double) {
            let (start, cpu) = (SystemClock().uptimeNanoseconds, cpuSeconds())
            try await decode(list, bytes, count: images)
            return (Double(SystemClock().uptimeNanoseconds - start) / 1e6, (cpuSeconds() - cpu) * 1000)
        }
        var (cpu, ratios, throughputs): ([Double], [Double], [Double]) = ([], [], [])
        for round in 0...40 {
            let (one, other) = (try await turn(here), try await turn(there))
            if round == 0 { continue }
            cpu.append(one.cpu / Double(images))
            ratios.append(other.cpu / one.cpu)
            throughputs.append(one.wall / other.wall)
        }
        print(
            String(
                format:
                    "12 megapixels to 300 pixels, %@, on all cores: %.2f ms CPU in the process; isolated %.3f of it, and %.3f "
                    + "of the throughput",
                quality.rawValue, median(cpu), median(ratios), median(throughputs)))
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    private static func decode(_ list: ImagePipeline, _ bytes: [UInt8], count: Int) async throws {
        let tasks = BlockingThreads.decoding.count
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<tasks {
                group.addTask {
                    for _ in stride(from: task, to: count, by: tasks) {
                        _ = try await list.load(ImageRequest(.bytes(bytes), maxPixelSize: 300))
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Prints the memory of this process and of the pool's during ten thousand images of all formats.
    private static func printMemory(_ isolated: ImageCodecs) async throws {
        let folder = URL(filePath: "Tests/Images/good")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .sorted { $0.path() < $1.path() }.compactMap { try? [UInt8](Data(contentsOf: $0)) }
        let list = pipeline(isolated)
        for count in [1_000, 9_000] {
            for index in 0..<count {
                let box: PixelSize? = index % 10 == 0 ? nil : 300
                _ = try? await list.load(ImageRequest(.bytes(files[index % files.count]), maxPixelSize: box))
            }
            print(
                String(
                    format: "After %d more images of all formats: this process %.1f MB, the pool %.1f MB", count,
                    ProcessMemory.resident, poolMemory()))
        }
    }

    /// The processes of the pool.
    private static var processes: [Int] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return all.compactMap { Int($0) }.filter {
            (try? String(contentsOfFile: "/proc/\($0)/comm", encoding: .utf8)) == "pipeline-decode\n"
        }
    }

    /// The proportional memory of the pool in megabytes.
    private static func poolMemory() -> Double {
        processes.reduce(0) { sum, process in
            let text = (try? String(contentsOfFile: "/proc/\(process)/smaps_rollup", encoding: .utf8)) ?? ""
            let line = text.split(separator: "\n").first { $0.hasPrefix("Pss:") }
            return sum + (line?.split(whereSeparator: { !$0.isNumber }).first.flatMap { Double($0) } ?? 0) / 1024
        }
    }

    /// The CPU time of this process and of the pool's.
    private static func cpuSeconds() -> Double {
        processes.reduce(Thumbnails.cpuSeconds()) { sum, process in
            let text = (try? String(contentsOfFile: "/proc/\(process)/schedstat", encoding: .utf8)) ?? ""
            return sum + (text.split(separator: " ").first.flatMap { Double($0) } ?? 0) / 1e9
        }
    }
}
