import Foundation
import Pipeline
import PipelineTesting
import Stages

/// Measures the processor time of loads apart from their pictures, which have 48 pixels and come from memory.
enum TinyLoads {
    static func run(count: Int) async throws {
        let picture = Picture.png(PixelSize(width: 8, height: 6))
        let folder = FileManager.default.temporaryDirectory.appending(path: "tiny-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let loader = ImageLoader(
            PipelineResources(
                memory: MemoryCache(byteLimit: 10_000_000),
                responses: HTTPCache(folder: folder.path, byteLimit: 1_000_000_000),
                client: ClosureClient { _ in picture }, isolation: .none),
            defaults: LoadOptions(maxPixelSize: 8)
        )
        try await load(0..<count / 20, loader)
        let before = processorTime
        try await load(count / 20..<count, loader)
        await loader.resources.flights.drain()
        let each = (processorTime - before) / Double(count - count / 20)
        print("\(count) loads of different tiny pictures, four at a time: \(Int(each * 1_000_000)) µs of CPU each")
        await loader.shutdown()
    }

    private static func load(_ numbers: Range<Int>, _ loader: ImageLoader) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<4 {
                group.addTask {
                    for number in stride(from: numbers.lowerBound + worker, to: numbers.upperBound, by: 4) {
                        guard let url = URL(string: "http://images.example.com/\(number).png") else { continue }
                        _ = try await loader.load(url)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// The seconds that the process has computed.
    private static var processorTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
