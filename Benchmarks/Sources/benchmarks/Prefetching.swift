import Foundation
import Pipeline
import PipelineTesting
import Stages

/// Measures how long a load takes for a waiting user, on an idle loader and while 500 images are prefetched.
enum Prefetching {
    private static let rounds = 9
    private static let loads = 12

    static func run() async throws {
        let photograph = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Tests/Images/good/photo-12mp-baseline-420.jpg")
        let picture = [UInt8](try Data(contentsOf: photograph))
        let origin = try ScriptedOrigin { _ in .init(headers: [:], body: picture) }
        let folder = FileManager.default.temporaryDirectory.appending(path: "prefetching-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let loader = ImageLoader(
            PipelineResources(
                memory: MemoryCache(), responses: HTTPCache(folder: folder.path, byteLimit: 200_000_000),
                client: CurlClient(.init(addresses: .any))))

        var idle: [Double] = []
        var busy: [Double] = []
        var prefetched = 0
        for round in 0..<rounds {
            idle += try await visible("idle\(round)", loader, origin)
            let prefetcher = Prefetcher(loader)
            prefetcher.start((0..<500).map { origin.url("/prefetch\(round)-\($0)") })
            busy += try await visible("busy\(round)", loader, origin)
            var progress = prefetcher.progress.makeAsyncIterator()
            prefetched += await progress.next()?.loaded ?? 0
            prefetcher.stopAll()
            await loader.resources.flights.drain()
        }
        guard prefetched > 0 else { throw NothingPrefetched() }
        let (quiet, loud) = (median(idle), median(busy))
        print("A 12-megapixel photograph, loaded from an origin on this machine to 300 px, median of \(idle.count):")
        print("  on an idle loader                     \(milliseconds(quiet))")
        print("  while 500 others are prefetched       \(milliseconds(loud)), \(tenths(loud / quiet)) times as long")
        print("  prefetched concurrently               \(prefetched) images")
    }

    /// Returns the times of some consecutive loads.
    private static func visible(_ name: String, _ loader: ImageLoader, _ origin: ScriptedOrigin) async throws
        -> [Double]
    {
        var times: [Double] = []
        let clock = SystemClock()
        for number in 0..<loads {
            let start = clock.uptime
            _ = try await loader.load(origin.url("/\(name)-\(number)"))
            times.append((clock.uptime - start) / .milliseconds(1))
        }
        return times
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    private static func tenths(_ value: Double) -> String { String((value * 10).rounded() / 10) }

    private static func milliseconds(_ value: Double) -> String { "\(tenths(value)) ms" }

    /// Nothing was prefetched during the measured loads.
    private struct NothingPrefetched: Error {}
}
