import Foundation
import Pipeline
import ProcessMemory
import Stages

/// Decodes thousands of damaged files of each format in turn. A crash leaves the file behind.
enum HostileFiles {
    static func run(cases: Int, seed: UInt64, slack: Int) async throws {
        let images = URL(filePath: "Tests/Images")
        let files = try ["good", "bad", "generated"].flatMap { folder in
            try FileManager.default.contentsOfDirectory(
                at: images.appending(path: folder), includingPropertiesForKeys: [.fileSizeKey]
            ).filter {
                // Foundation leaks memory when it reads an empty file, which the sanitizer would report.
                let size = try $0.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
                return !$0.hasDirectoryPath && 1..<200_000 ~= size
            }
        }.sorted { $0.path() < $1.path() }.map { ($0.lastPathComponent, [UInt8](try Data(contentsOf: $0))) }
            .filter { ImageCodecs.standard.codec(of: $0.1) != nil }
        let byFormat = Dictionary(grouping: files) { ImageCodecs.standard.codec(of: $0.1)?.format.rawValue ?? "" }
        let current = FileManager.default.temporaryDirectory.appending(
            path: "hostile-\(ProcessInfo.processInfo.processIdentifier)")
        defer { try? FileManager.default.removeItem(at: current) }
        print("\(cases) damaged files of each format, seed \(seed); the current one is \(current.path())")
        for (format, samples) in byFormat.sorted(by: { $0.key < $1.key }) {
            try await run(format, samples.map(\.1), cases, seed, slack, current)
        }
    }

    private static func run(
        _ format: String, _ samples: [[UInt8]], _ cases: Int, _ seed: UInt64, _ slack: Int, _ current: URL
    ) async throws {
        var mutation = Mutation(seed: seed)
        var (decoded, slowest, largest) = (0, Duration.zero, 0.0)
        for index in 0..<cases {
            let sample = samples[index % samples.count]
            let other = samples.randomElement(using: &mutation) ?? []
            let bytes = mutation.damaged(sample, other)
            try Data(bytes).write(to: current)
            let idle = ProcessMemory.restartPeak()
            let start = ContinuousClock.now
            if await decodes(bytes, variant: index) { decoded += 1 }
            let time = ContinuousClock.now - start
            let memory = ProcessMemory.peak - idle
            if time > .seconds(slack) || memory > Double(100 * slack) {
                let kept = "\(current.path())-\(format.replacing("/", with: "-"))-\(seed)-\(index)"
                try Data(bytes).write(to: URL(filePath: kept))
                print("  \(kept): \(time), \(memory.rounded()) MB")
            }
            slowest = max(slowest, time)
            largest = max(largest, memory)
        }
        print("  \(format): \(decoded) decoded; slowest \(slowest), most memory \(largest.rounded()) MB")
    }

    private static func decodes(_ bytes: [UInt8], variant: Int) async -> Bool {
        let limits = ImageLimits(frames: variant % 3 == 0 ? 10 : 1)
        let pipeline = ImagePipeline {
            ReadInline()
            Decode(
                limits: limits, quality: variant % 2 == 0 ? .quality : .fast,
                allowTruncated: variant % 5 == 0)
            Downscale()
        }
        var request = ImageRequest(.bytes(bytes))
        if variant % 4 > 0 { request.maxPixelSize = PixelSize(square: [1, 60, 300][variant % 4 - 1]) }
        return (try? await pipeline.load(request)) != nil
    }
}
