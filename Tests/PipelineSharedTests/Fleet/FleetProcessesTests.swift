import FleetServers
import Foundation
import Testing

@testable import CacheTrials

/// `CacheTrials fleet <fault> 8 200 100 10` does the same with as many as a service has that has just started, as
/// `make soak` does.
@Suite("Processes that share a tier and start at the same time", .withRedis, .serialized, .timeLimit(.minutes(10)))
struct FleetProcessesTests {
    @Test(
        "lose no load and no picture, and ask the origin once, or once each while Redis is away",
        // The slow link takes too long for that, and is among the tests of links.
        arguments: FleetFault.allCases.filter { $0 != .unplugged && $0 != .slowButPatient })
    func survive(_ fault: FleetFault) async throws {
        let (status, said) = try await run(["fleet", fault.rawValue, "4", "50", "25", "2"])
        #expect(status == 0, "\(said)")
        #expect(said.contains("survived \(fault.rawValue)"), "\(said)")
    }

    @Test(
        "do so too if the network of Redis is unplugged",
        .enabled("root is needed to put Redis into a network of its own") { NetworkNamespace.isPermitted })
    func unplugged() async throws { try await survive(.unplugged) }

    /// Runs a trial to its end. Its program lies next to the tests that were built with it.
    private func run(_ arguments: [String]) async throws -> (status: Int32, said: String) {
        let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "CacheTrials")
        return try await Process.run(program, arguments)
    }
}
