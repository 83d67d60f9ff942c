import Foundation
import Pipeline
import TestFixtures
import Testing

@Suite("Threads that give way", .onLinux, .timeLimit(.minutes(5)))
struct GivingWayTests {
    private static func niceness() -> Int32 { getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) }

    private let given = min(19, niceness() + 7)

    @Test("A thread that gives way is nicer than others by seven")
    func thread() async throws {
        for (givesWay, niceness) in [(false, Self.niceness()), (true, given)] {
            let found = Lock<Int32?>(nil)
            try Pipeline.Thread.start(name: "test", givesWay: givesWay) {
                let niceness = Self.niceness()
                found.withLock { $0 = niceness }
            }
            while found.withLock({ $0 }) == nil { await Task.yield() }
            #expect(found.withLock { $0 } == niceness)
        }
    }

    @Test("All threads of a pool give way once it is told so, those that run already and later ones")
    func pool() async throws {
        let threads = BlockingThreads(name: "test", count: 2)
        #expect(try await threads.run { _ in Self.niceness() } == Self.niceness())
        threads.giveWay()
        let barrier = Barrier()
        let began = Counter()
        let found = try await withThrowingTaskGroup(of: Int32.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    try await threads.run { _ in
                        began.increment()
                        barrier.wait()
                        return Self.niceness()
                    }
                }
            }
            await began.reaches(2)
            barrier.open()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(found == [given, given])
        // Giving way once more would make them nicer still.
        #expect(try await threads.run { _ in Self.niceness() } == given)
    }
}
