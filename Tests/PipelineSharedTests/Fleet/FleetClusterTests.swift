import FleetServers
import Foundation
import Pipeline
import PipelineTesting
import Testing

@testable import PipelineShared
@testable import Stages

@Suite("A cluster of one shard", .withRedis, .timeLimit(.minutes(5)))
struct FleetClusterTests {
    private let server: RedisServer

    init() async throws {
        server = try RedisServer("--cluster-enabled", "yes", "--cluster-port", "\(try freePort())")
        try server.send("CLUSTER ADDSLOTSRANGE 0 16383")
        let connection = RedisConnection(server.address, limits: RedisLimits(request: .seconds(10)))
        while try await connection.send("CLUSTER", "INFO").text?.contains("cluster_state:ok") != true {}
    }

    private func address(_ namespace: String) throws -> RedisAddress {
        try RedisAddress("unix://\(server.socket)?namespace=\(namespace)")
    }

    @Test("shares with a namespace in braces, removals and lists included")
    func braces() async throws {
        let site = try FleetSite()
        let machines = try (0..<2).map { _ in site.machine(over: try address("{img}")) }
        for machine in machines {
            machine.fleet.join(machine.resources)
            #expect(try await machine.fleet.ready(within: .seconds(60)))
        }
        let url = site.origin.url("/a.png")
        #expect(try await machines[0].load(url).source == .network)
        #expect(try await machines[1].load(url).source == .shared)
        for machine in machines {
            let list = ImagePipeline.returnSharedElseLoad(machine.resources, machine.fleet, encoding: Encode(.webp))
            _ = try await list.load(ImageRequest(url, maxPixelSize: PixelSize(width: 16, height: 16)))
        }
        #expect(site.requests == 1)
        #expect(await machines[0].fleet.removal(of: url.targetText)?.heard == 2)
        await machines[1].events.until { $0.contains(.invalidated) }
        #expect(try await machines[1].load(url).source == .network)
        #expect(try await machines[0].entries() == 1)
        #expect(try await machines[0].fleet.removeAll() == 1)
        let fleet = machines[0].fleet
        #expect(try await fleet.inspectServer()?.isUsable == true)
        #expect(try await fleet.tryRights().isWell)
        #expect(try await fleet.tryMessages().isWell)
        #expect(machines.allSatisfy { $0.events.warnings.isEmpty })
    }

    @Test("shares nothing without braces, which the doctor says", arguments: ["pipeline", "{}img", "img}{"])
    func without(_ namespace: String) async throws {
        let site = try FleetSite()
        let machine = site.machine(over: try address(namespace))
        #expect(try await machine.load(site.origin.url("/a.png")).source == .network)
        let error = try await #require(throws: LoadError.self) { _ = try await machine.fleet.inspectServer() }
        #expect(error.message.contains("CROSSSLOT") && error.message.contains("namespace in braces"))
    }
}
