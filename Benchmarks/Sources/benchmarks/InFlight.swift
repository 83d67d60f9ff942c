import CAllocations
import Foundation
import Pipeline
import PipelineTesting
import ProcessMemory
import Stages
import Synchronization

/// Runs a hundred thousand loads of different images concurrently, checks that all end, and measures their memory.
enum InFlight {
    static func run(count: Int = 100_000) async throws {
        let picture = Picture.png(PixelSize(width: 8, height: 6))
        let crowd = Crowd()
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
        var urls: [URL] = []
        for number in 0..<count {
            if let url = URL(string: "http://images.example.com/\(number).png") { urls.append(url) }
        }
        // The first load's setup isn't measured.
        crowd.release()
        _ = try await loader.load(urls[0].appending(path: "first"))
        crowd.hold()

        let before = ProcessMemory.restartPeak()
        let start = SystemClock().uptime
        let tasks = urls.map { loader.task(for: $0) }
        let flights = loader.resources.flights
        // All loads wait now: some for a slot, the others for the origin.
        await crowd.reaches(count - flights.waiting)
        let held = ProcessMemory.resident
        let (waiting, inFlight) = (flights.waiting, flights.count)
        crowd.release()
        var loaded = 0
        for task in tasks where try await task.response.image.width == 8 { loaded += 1 }
        await flights.drain()
        let time = (SystemClock().uptime - start) / .seconds(1)
        print("\(count) concurrent loads of different images:")
        print("  in flight, of which waiting           \(inFlight), \(waiting)")
        print("  ended correctly                       \(loaded)")
        print("  memory before, with all in flight     \(Int(before)) MB, \(Int(held)) MB")
        print("  a load in flight                      \(Int((held - before) * 1_048_576) / count) bytes")
        print("  peak until all have ended             \(Int(ProcessMemory.peak)) MB")
        print("  after                                 \(Int(ProcessMemory.resident)) MB")
        give_back_free_memory()
        print("  after malloc has returned free memory  \(Int(ProcessMemory.resident)) MB")
        print("  time in all                           \((time * 10).rounded() / 10) s")
        await loader.shutdown()
    }

    /// Suspends all callers until it is released.
    private final class Crowd: Sendable {
        private struct State {
            var waiting: [CheckedContinuation<Void, Never>] = []
            var watcher: (count: Int, CheckedContinuation<Void, Never>)?
            var isOpen = false
        }

        private let state = Mutex(State())

        func arrive() async {
            await withCheckedContinuation { continuation in
                let (passes, watcher) = state.withLock { state -> (Bool, CheckedContinuation<Void, Never>?) in
                    if state.isOpen { return (true, nil) }
                    state.waiting.append(continuation)
                    guard let watcher = state.watcher, state.waiting.count >= watcher.count else { return (false, nil) }
                    state.watcher = nil
                    return (false, watcher.1)
                }
                if passes { continuation.resume() }
                watcher?.resume()
            }
        }

        /// Waits until this many callers are suspended.
        func reaches(_ count: Int) async {
            await withCheckedContinuation { continuation in
                let isComplete = state.withLock { state in
                    if state.waiting.count < count { state.watcher = (count, continuation) }
                    return state.waiting.count >= count
                }
                if isComplete { continuation.resume() }
            }
        }

        func hold() { state.withLock { $0.isOpen = false } }

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
