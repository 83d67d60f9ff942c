import Foundation
import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@Suite("Threads for blocking work", .timeLimit(.minutes(5)))
struct BlockingThreadsTests {
    private let barrier = Barrier()

    @Test("Work that blocks every thread leaves Swift's own free")
    func poolStaysFree() async throws {
        let threads = BlockingThreads(name: "test", count: 8)
        let began = Counter()
        let barrier = barrier
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try await threads.run { _ in
                        began.increment()
                        barrier.wait()
                    }
                }
            }
            // Were the work on the cooperative threads, this would never see all eight begin.
            await began.reaches(8)
            barrier.open()
            try await group.waitForAll()
        }
    }

    @Test("Work that comes in a burst begins at once on as many threads as there may be, however many were idle")
    func burst() async throws {
        for _ in 0..<20 {
            let threads = BlockingThreads(name: "test", count: 4)
            // One thread is there, and idle or about to be.
            try await threads.run { _ in }
            let (began, barrier) = (Counter(), Barrier())
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        try await threads.run { _ in
                            began.increment()
                            barrier.wait()
                        }
                    }
                }
                await began.reaches(4)
                barrier.open()
                try await group.waitForAll()
            }
        }
    }

    @Test("Work that becomes urgent while it waits gets a thread of its own, if there may be one more")
    func raised() async throws {
        let threads = BlockingThreads(name: "test", count: 2)
        let (began, barrier, urgent) = (Counter(), Barrier(), AdjustablePriority(.low))
        async let blocker: Void = threads.run(priority: .low) { _ in
            began.increment()
            barrier.wait()
        }
        await began.reaches(1)
        async let raised: Void = AdjustablePriority.$inherited.withValue(urgent) { try await threads.run { _ in } }
        await threads.reaches(waiting: 1)
        urgent.set(.high)
        try await raised
        barrier.open()
        try await blocker
    }

    @Test("The next step of work that began earlier comes before the first step of later work")
    func age() async throws {
        let threads = BlockingThreads(name: "test", count: 1)
        let (began, order) = (Counter(), Lock<[String]>([]))
        let (older, newer) = (AdjustablePriority(.normal), AdjustablePriority(.normal))
        async let blocker: Void = threads.run { [barrier] _ in
            began.increment()
            barrier.wait()
        }
        await began.reaches(1)
        async let decode: Void = AdjustablePriority.$inherited.withValue(newer) {
            try await threads.run { _ in order.withLock { $0.append("decode of the newer") } }
        }
        await threads.reaches(waiting: 1)
        async let encode: Void = AdjustablePriority.$inherited.withValue(older) {
            try await threads.run { _ in order.withLock { $0.append("encode of the older") } }
        }
        await threads.reaches(waiting: 2)
        barrier.open()
        _ = try await (blocker, decode, encode)
        #expect(order.withLock { $0 } == ["encode of the older", "decode of the newer"])
    }

    @Test("There are never more threads than allowed, and none is lost")
    func bounded() async throws {
        let threads = BlockingThreads(name: "test", count: 3)
        let (running, most) = (Counter(), Lock(0))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<500 {
                group.addTask {
                    try await threads.run { _ in
                        let now = running.increment()
                        most.withLock { $0 = max($0, now) }
                        running.decrement()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect((1...3).contains(most.withLock { $0 }))
        #expect(running.value == 0)
    }

    @Test("Work of low priority leaves a thread free; what becomes urgent while it waits begins there")
    func reserve() async throws {
        let threads = BlockingThreads(name: "test", count: 2)
        let (began, urgent) = (Counter(), AdjustablePriority(.low))
        let barrier = barrier
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try await threads.run(priority: .low) { _ in
                        began.increment()
                        barrier.wait()
                    }
                }
            }
            await began.reaches(1)
            while threads.waiting < 3 { await Task.yield() }
            // With all threads taken these would wait for the barrier, which opens after them.
            try await threads.run { _ in }
            async let raised: Void = AdjustablePriority.$inherited.withValue(urgent) { try await threads.run { _ in } }
            while threads.waiting < 4 { await Task.yield() }
            urgent.set(.normal)
            try await raised
            #expect(began.value == 1)
            barrier.open()
            try await group.waitForAll()
        }
        #expect(began.value == 4)
    }

    @Test("What waits is served by priority, then in the order of arrival")
    func priority() async throws {
        let threads = BlockingThreads(name: "test", count: 1)
        let (began, order) = (Counter(), Lock<[String]>([]))
        let barrier = barrier
        async let blocker: Void = threads.run { _ in
            began.increment()
            barrier.wait()
        }
        await began.reaches(1)
        try await withThrowingTaskGroup(of: Void.self) { group in
            let work: [(String, LoadPriority)] = [
                ("low", .low), ("normal 1", .normal), ("normal 2", .normal), ("high", .high), ("very low", .veryLow),
            ]
            for (index, (name, priority)) in work.enumerated() {
                group.addTask {
                    try await threads.run(priority: priority) { _ in order.withLock { $0.append(name) } }
                }
                await threads.reaches(waiting: index + 1)
            }
            barrier.open()
            try await group.waitForAll()
        }
        try await blocker
        #expect(order.withLock { $0 } == ["high", "normal 1", "normal 2", "low", "very low"])
    }

    @Test("Where the system refuses a thread, work fails with an error that says so, and later work tries again")
    func refused() async throws {
        let threads = BlockingThreads(name: "test", count: 2)
        let error = await failure(.refused) {
            try await Pipeline.Thread.$isRefused.withValue(true) { try await threads.run { _ in 1 } }
        }
        #expect(error?.description.contains("limit of threads") == true)
        #expect(try await threads.run { _ in 2 } == 2)
        // One thread is there: work waits for it rather than fail. It may not be idle yet, and must stay the only one.
        let (began, barrier) = (Counter(), Barrier())
        async let blocker: Void = Pipeline.Thread.$isRefused.withValue(true) {
            try await threads.run { _ in
                began.increment()
                barrier.wait()
            }
        }
        await began.reaches(1)
        async let waiting = Pipeline.Thread.$isRefused.withValue(true) { try await threads.run { _ in 3 } }
        await threads.reaches(waiting: 1)
        barrier.open()
        try await blocker
        #expect(try await waiting == 3)
    }

    @Test("Work that is cancelled while it waits never begins, and its task returns at once")
    func cancelledWaiting() async throws {
        let threads = BlockingThreads(name: "test", count: 1)
        let began = Counter()
        let barrier = barrier
        async let blocker: Void = threads.run { _ in
            began.increment()
            barrier.wait()
        }
        await began.reaches(1)
        let waiting = Task { try await threads.run { _ in began.increment() } }
        await threads.reaches(waiting: 1)
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        barrier.open()
        try await blocker
        try await threads.run { _ in }
        #expect(began.value == 1)
    }

    @Test("Work that runs is told of the cancellation, and the task waits for its end")
    func cancelledRunning() async throws {
        let threads = BlockingThreads(name: "test", count: 1)
        let (began, ended) = (Counter(), Counter())
        let task = Task {
            try await threads.run { cancellation in
                began.increment()
                while !cancellation.isCancelled {}
                ended.increment()
                try cancellation.check()
            }
        }
        await began.reaches(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(ended.value == 1)
    }

    @Test("Work that may be left is left as soon as it is cancelled, and keeps its thread until it ends")
    func left() async throws {
        let threads = BlockingThreads(name: "test", count: 1)
        let (began, ended) = (Counter(), Counter())
        let barrier = barrier
        let task = Task {
            try await threads.run(priority: .normal, isLeft: true) { cancellation in
                began.increment()
                barrier.wait()
                if cancellation.isCancelled { ended.increment() }
            }
        }
        await began.reaches(1)
        task.cancel()
        // The barrier is still closed.
        await #expect(throws: CancellationError.self) { try await task.value }
        async let next = threads.run { _ in ended.value }
        await threads.reaches(waiting: 1)
        #expect(ended.value == 0)
        barrier.open()
        #expect(try await next == 1)
    }

    @Test("Work that may be left gives what it gives if nobody cancels it, and never begins if it is cancelled before")
    func notLeft() async throws {
        let threads = BlockingThreads(name: "test", count: 1)
        #expect(try await threads.run(priority: .normal, isLeft: true) { _ in 7 } == 7)
        await #expect(throws: LoadError.self) {
            try await threads.run(priority: .normal, isLeft: true) { _ in
                throw LoadError(.unencodable, subject: "", "No.")
            }
        }
        let began = Counter()
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            try await threads.run(priority: .normal, isLeft: true) { _ in _ = began.increment() }
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(began.value == 0)
    }

    @Test("After the stop what waits is still done, and what comes is refused")
    func stop() async throws {
        let threads = BlockingThreads(name: "test", count: 1)
        let (began, done) = (Counter(), Counter())
        let barrier = barrier
        let first = Task {
            try await threads.run { _ in
                began.increment()
                barrier.wait()
            }
        }
        await began.reaches(1)
        let second = Task { try await threads.run { _ in done.increment() } }
        await threads.reaches(waiting: 1)
        threads.stop()
        await #expect(throws: CancellationError.self) { try await threads.run { _ in } }
        barrier.open()
        try await first.value
        _ = try await second.value
        #expect(done.value == 1)
    }
}

extension BlockingThreads {
    /// Gives other tasks their turn until so much work waits.
    fileprivate func reaches(waiting wanted: Int) async { while waiting < wanted { await Task.yield() } }
}
