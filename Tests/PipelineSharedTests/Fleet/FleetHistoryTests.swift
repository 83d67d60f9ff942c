import Foundation
import PipelineTesting
import Testing

@Suite("After any history of loads, removals, tags, cuts and restarts", .withRedis, .timeLimit(.minutes(30)))
struct FleetHistoryTests {
    /// `FLEET_HISTORIES` in the environment sets how many; 3 otherwise.
    static let seeds =
        1...(ProcessInfo.processInfo.environment["FLEET_HISTORIES"].flatMap { UInt64($0) } ?? 3)

    @Test(
        "no machine serves what was removed, and each serves the newest version once all was removed", arguments: seeds)
    func history(seed: UInt64) async throws {
        let history = try await FleetHistory(seed: seed)
        for _ in 0..<12 { try await history.round() }
        try await history.settle()
        await history.end()
    }
}
