import Pipeline
import Stages
import Testing

@Suite("The memory of a batch")
struct MemoryBudgetTests {
    /// Lets work go on when it is told.
    private struct Gate {
        private let stream: AsyncStream<Void>
        private let continuation: AsyncStream<Void>.Continuation

        init() { (stream, continuation) = AsyncStream.makeStream() }

        func open() { continuation.finish() }
        func wait() async { for await _ in stream {} }
    }

    @Test("is never exceeded, and all get their turn")
    func bounded() async throws {
        let budget = MemoryBudget(bytes: 100)
        let state = Lock((held: 0, most: 0))
        try await withThrowingTaskGroup { group in
            for index in 0..<200 {
                group.addTask {
                    let bytes = [10, 35, 60, 99][index % 4]
                    try await budget.run(holding: bytes) {
                        state.withLock {
                            $0.held += bytes
                            $0.most = max($0.most, $0.held)
                        }
                        await Task.yield()
                        state.withLock { $0.held -= bytes }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(state.withLock { $0.most } <= 100)
        #expect(state.withLock { $0.held } == 0)
    }

    @Test("a picture that needs more than there is runs alone")
    func oversize() async throws {
        let budget = MemoryBudget(bytes: 100)
        #expect(try await budget.run(holding: 1 << 40) { true })
        #expect(try await budget.run(holding: 100) { true }, "all was given back")
    }

    @Test("a waiter that is cancelled leaves at once, and keeps no other waiting")
    func cancelled() async throws {
        let budget = MemoryBudget(bytes: 100)
        let (holds, release) = (Gate(), Gate())
        let holder = Task {
            try await budget.run(holding: 90) {
                holds.open()
                await release.wait()
            }
        }
        await holds.wait()
        let waiter = Task { try await budget.run(holding: 50) {} }
        waiter.cancel()
        await #expect(throws: CancellationError.self) { try await waiter.value }
        #expect(try await budget.run(holding: 10) { true })
        release.open()
        try await holder.value
        #expect(try await budget.run(holding: 100) { true })
    }
}
