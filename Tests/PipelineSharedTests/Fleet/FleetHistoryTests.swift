import Foundation
import PipelineTesting
import Testing

@Suite("After any history of loads, removals, tags, cuts and restarts", .withRedis, .timeLimit(.minutes(60)))
struct FleetHistoryTests {
    /// The variable of the environment sets how many; 3 otherwise.
    static func seeds(_ name: String) -> ClosedRange<UInt64> {
        1...(ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) } ?? 3)
    }

    @Test(
        "no machine serves what was removed, and each serves the newest version once all was removed",
        arguments: seeds("FLEET_HISTORIES"))
    func history(seed: UInt64) async throws { try await run(FleetHistory(seed: seed)) }

    @Test(
        "nor does one while what is stored expires, on a clock that is advanced",
        arguments: seeds("FLEET_MANUAL_HISTORIES"))
    func expiringHistory(seed: UInt64) async throws { try await run(FleetHistory(seed: seed, isManual: true)) }

    private func run(_ history: FleetHistory) async throws {
        for _ in 0..<12 { try await history.round() }
        try await history.settle()
        await history.end()
    }
}
