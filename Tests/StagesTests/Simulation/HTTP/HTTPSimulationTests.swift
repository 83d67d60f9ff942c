import Foundation
import Pipeline
import Stages
import TestFixtures
import Testing

@Suite("An HTTP cache, simulated", .inEachStore)
struct HTTPSimulationTests {
    /// `SOAK_SEEDS` in the environment sets how many; 300 otherwise.
    private static var seeds: UInt64 {
        ProcessInfo.processInfo.environment["SOAK_SEEDS"].flatMap { UInt64($0) } ?? 300
    }

    /// Where the folders lie: in memory, where the system has a place for that.
    private func root() throws -> TemporaryFolder { try TemporaryFolder(inMemory: true) }

    @Test(
        """
        Two programs, several users, changing pages and redirects: every answer is one that RFC 9111 allows, and what \
        may be reused is
        """, arguments: [0, 1])
    func rules(half: UInt64) async throws {
        let root = try root()
        var (requests, given) = (0, 0)
        for seed in half * Self.seeds / 2..<(half + 1) * Self.seeds / 2 {
            let report = await HTTPSimulation.run(seed: seed, folder: root.path)
            if let difference = report.difference {
                Issue.record("seed \(seed): \(difference)\n\(report.history.joined(separator: "\n"))")
            }
            requests += report.requests
            given += report.given
        }
        // Else nothing was there to be reused.
        #expect(given > requests / 20)
        #expect(requests > Int(Self.seeds) * 5)
    }

    @Test("A seed replays exactly, and another is another story")
    func replay() async throws {
        let root = try root()
        var stories: Set<[String]> = []
        for seed in UInt64(0)..<10 {
            let first = await HTTPSimulation.run(seed: seed, folder: root.path + "/first")
            let second = await HTTPSimulation.run(seed: seed, folder: root.path + "/second")
            #expect(first == second)
            stories.insert(first.history)
        }
        #expect(stories.count == 10)
    }
}
