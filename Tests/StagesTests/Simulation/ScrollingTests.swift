import Foundation
import Pipeline
import Stages
import Testing

@Suite("A list that is scrolled at random, simulated")
struct ScrollingTests {
    /// Runs seeds on a thread of their own: a simulation never waits, and would keep one of Swift's threads.
    private func run(_ seeds: Range<UInt64>) async -> [(seed: UInt64, report: ScrollingSimulation.Report)] {
        await withCheckedContinuation { continuation in
            Foundation.Thread {
                continuation.resume(returning: seeds.map { ($0, ScrollingSimulation.run(seed: $0)) })
            }.start()
        }
    }

    /// `SOAK_SEEDS` in the environment sets how many; 300 otherwise.
    private static var seeds: UInt64 {
        ProcessInfo.processInfo.environment["SOAK_SEEDS"].flatMap { UInt64($0) } ?? 300
    }

    @Test(
        """
        No image lands in the wrong cell, no waiter is left without a result, no request is made twice while fresh, \
        nothing runs once all are cancelled, and nothing stays behind
        """, arguments: [0, 1])
    func invariants(half: UInt64) async {
        var requests = 0
        for (seed, report) in await run(half * Self.seeds / 2..<(half + 1) * Self.seeds / 2) {
            #expect(report.breaches.isEmpty, "seed \(seed)")
            requests += report.requests
        }
        // Else the lists have only been looking at each other.
        #expect(requests > Int(Self.seeds) * 10)
    }

    @Test("A seed replays exactly, and another is another story")
    func replay() async {
        let first = await run(0..<20).map(\.report)
        let second = await run(0..<20).map(\.report)
        #expect(first == second)
        #expect(Set(first.map(\.digest)).count == 20)
    }
}
