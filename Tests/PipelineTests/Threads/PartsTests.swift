import Pipeline
import TestFixtures
import Testing

@Suite("Parts of work run on idle threads too", .timeLimit(.minutes(5)))
struct PartsTests {
    @Test("Each part is done once, and all are over in the end", arguments: [0, 1, 2, 100], [1, 2, 8])
    func all(_ count: Int, _ threads: Int) async throws {
        let pool = BlockingThreads(name: "test", count: threads)
        for _ in 0..<20 {
            let done = Lock([Int](repeating: 0, count: count))
            try await pool.run { _ in pool.runParts(count) { index in done.withLock { $0[index] += 1 } } }
            #expect(done.withLock { $0 } == [Int](repeating: 1, count: count))
        }
    }

    @Test("An idle thread takes part")
    func helped() async throws {
        let pool = BlockingThreads(name: "test", count: 2)
        let (began, barrier) = (Counter(), Barrier())
        async let work: Void = pool.run { _ in
            pool.runParts(2) { _ in
                began.increment()
                barrier.wait()
            }
        }
        // Both stand in the barrier at once.
        await began.reaches(2)
        barrier.open()
        try await work
    }

    @Test("Where all threads are busy nothing waits for one")
    func busy() async throws {
        let pool = BlockingThreads(name: "test", count: 2)
        let (began, barrier) = (Counter(), Barrier())
        async let other: Void = pool.run { _ in
            began.increment()
            barrier.wait()
        }
        await began.reaches(1)
        let done = Lock(0)
        try await pool.run { _ in pool.runParts(10) { _ in done.withLock { $0 += 1 } } }
        #expect(done.withLock { $0 } == 10)
        barrier.open()
        try await other
    }
}
