import Foundation
import Pipeline
import PipelineTesting
import Stages
import Synchronization

/// A hundred thousand loads of as many images, all in flight at once: that they end, and what memory they take.
enum InFlight {
    static func run(count: Int = 100_000) async throws {
        let picture = Picture.png(PixelSize(width: 8, height: 6))
        let crowd = Crowd(count)
        let folder = FileManager.default.temporaryDirectory.appending(path: "in-flight-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let loader = ImageLoader(
            PipelineResources(
                memory: MemoryCache(byteLimit: 10_000_000),
                responses: HTTPCache(folder: folder.path, byteLimit: 1_000_000),
                client: ClosureClient { _ in
                    await crowd.arrive()
                    return picture
                }),
            defaults: LoadOptions(maxPixelSize: 8)
        )

        let before = residentMegabytes()
        let start = SystemClock().uptime
        var urls: [URL] = []
        for number in 0..<count {
            if let url = URL(string: "http://images.example.com/\(number).png") { urls.append(url) }
        }
        let tasks = urls.map { loader.task(for: $0) }
        await crowd.complete()
        let peak = residentMegabytes()
        crowd.release()
        var loaded = 0
        for task in tasks where try await task.response.image.width == 8 { loaded += 1 }
        await loader.resources.flights.drain()
        let time = (SystemClock().uptime - start) / .seconds(1)
        print("\(count) loads in flight at once, each of an image of its own:")
        print("  ended correctly                       \(loaded)")
        print("  memory before, with all in flight     \(before) MB, \(peak) MB")
        print("  memory a load in flight               \((peak - before) * 1024 / (count / 1000)) bytes, about")
        print("  memory after                          \(residentMegabytes()) MB")
        print("  time in all                           \((time * 10).rounded() / 10) s")
        await loader.shutdown()
    }

    private static func residentMegabytes() -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * 4096 / 1_048_576
    }

    /// Holds all who arrive until everybody is there.
    private final class Crowd: Sendable {
        private struct State {
            var waiting: [CheckedContinuation<Void, Never>] = []
            var watcher: CheckedContinuation<Void, Never>?
            var isOpen = false
        }

        private let count: Int
        private let state = Mutex(State())

        init(_ count: Int) { self.count = count }

        func arrive() async {
            await withCheckedContinuation { continuation in
                let (passes, watcher) = state.withLock { state -> (Bool, CheckedContinuation<Void, Never>?) in
                    if state.isOpen { return (true, nil) }
                    state.waiting.append(continuation)
                    guard state.waiting.count == count else { return (false, nil) }
                    defer { state.watcher = nil }
                    return (false, state.watcher)
                }
                if passes { continuation.resume() }
                watcher?.resume()
            }
        }

        /// Waits until everybody is there.
        func complete() async {
            await withCheckedContinuation { continuation in
                let isComplete = state.withLock { state in
                    if state.waiting.count < count { state.watcher = continuation }
                    return state.waiting.count >= count
                }
                if isComplete { continuation.resume() }
            }
        }

        func release() {
            let waiting = state.withLock { state in
                state.isOpen = true
                defer { state.waiting = [] }
                return state.waiting
            }
            for continuation in waiting { continuation.resume() }
        }
    }
}
