import Foundation
import LibC
import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineHTTP

@Suite("What a cache does on threads of its own", .timeLimit(.minutes(5)))
struct CacheThreadsTests: CacheSuite {
    let folder: TemporaryFolder
    let clock = ManualClock(now: Date(timeIntervalSince1970: 1_772_366_400))
    let log = LogRecorder()

    init() throws { folder = try TemporaryFolder() }

    @Test("The checksum of a long body")
    func checksum() async throws {
        let (cache, executor) = (cache(), MeasuringExecutor())
        let exchange = try exchange(body: bytes(16 << 20))
        let start = MeasuringExecutor.processorTime
        _ = BodyChecksum(of: exchange.body)
        let cost = MeasuringExecutor.processorTime - start
        let stored = await Task(executorPreference: executor) { await cache.commit(exchange, for: .test()) }.value
        #expect(stored != nil)
        #expect(executor.time < cost / 2)
        #expect(try await cache.lookup(.test()).isFresh)
    }

    @Test("Files without a row are looked for with low priority, whatever priority the load has that stores")
    func sweep() async throws {
        let cache = cache()
        _ = try await cache.lookup(.test())
        let (threads, began) = (cache.fileThreads, Counter())
        let barriers = (0..<threads.count).map { _ in Barrier() }
        let blockers = barriers.map { barrier in
            Task {
                try await threads.run { _ in
                    began.increment()
                    barrier.wait()
                }
            }
        }
        await began.reaches(barriers.count)
        try await AdjustablePriority.$inherited.withValue(AdjustablePriority(.veryHigh)) {
            _ = try await store(cache)
        }
        while threads.waiting < 1 { await Task.yield() }
        let next = Task { try await threads.run { _ in threads.waiting } }
        while threads.waiting < 2 { await Task.yield() }
        barriers[0].open()
        // The look for files waits still.
        #expect(try await next.value == 1)
        for barrier in barriers[1...] { barrier.open() }
        for blocker in blockers { try await blocker.value }
    }
}

/// Runs each piece of a task on a new thread, and adds up the processor time that they take.
private final class MeasuringExecutor: TaskExecutor {
    private let total = Lock(Duration.zero)

    var time: Duration { total.withLock { $0 } }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Foundation.Thread { [self] in
            let start = Self.processorTime
            job.runSynchronously(on: asUnownedTaskExecutor())
            let time = Self.processorTime - start
            total.withLock { $0 += time }
        }.start()
    }

    /// What the calling thread has taken so far.
    static var processorTime: Duration {
        // Which module declares the members of `timespec` depends on the files that are compiled together with this one.
        var time = (seconds: 0, nanoseconds: 0)
        withUnsafeMutablePointer(to: &time) {
            _ = $0.withMemoryRebound(to: timespec.self, capacity: 1) { clock_gettime(CLOCK_THREAD_CPUTIME_ID, $0) }
        }
        return .seconds(time.seconds) + .nanoseconds(time.nanoseconds)
    }
}
