import FleetServers
import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Testing

@testable import PipelineShared
@testable import Stages

@Suite("A fleet whose primary fails over by Sentinel", .withRedis, .timeLimit(.minutes(5)))
struct FleetSentinelTests {
    private static let quick = RedisLimits(request: .milliseconds(500), connecting: .milliseconds(500))

    @Test("fails no load, shares again, and hears removals, those during the failover too", arguments: [true, false])
    func failover(isKilled: Bool) async throws {
        let redis = try WatchedRedis()
        let site = try FleetSite(over: redis.servers[0])
        let machines = try (0..<2).map { _ in
            site.machine(connecting: Self.quick, over: try RedisAddress(redis.url("namespace=watched")))
        }
        for machine in machines {
            machine.fleet.join(machine.resources)
            #expect(try await machine.fleet.ready(within: .seconds(60)))
        }
        let url = site.origin.url("/a.png")
        #expect(try await machines[0].load(url).source == .network)
        #expect(try await machines[1].load(url).source == .shared)
        if isKilled {
            redis.servers[0].kill()
        } else {
            try redis.sentinels[0].send("SENTINEL FAILOVER \(WatchedRedis.name)")
        }
        // No load fails meanwhile, and a removal is told once there is a primary to tell.
        var number = 0
        while try !redis.isPrimary(1) {
            for machine in machines { _ = try await machine.load(site.origin.url("/\(number).png")) }
            number += 1
        }
        while await !machines[0].fleet.remove(url) {
            _ = try await machines[1].load(site.origin.url("/\(number).png"))
            number += 1
        }
        await machines[1].events.until { $0.contains(.invalidated) }
        #expect(try await machines[1].load(url).source == .network)
        for machine in machines { #expect(try await machine.fleet.ready(within: .seconds(60))) }
        // Each finds what the other has fetched, once its connection for requests is back.
        for (holder, finder) in [(machines[0], machines[1]), (machines[1], machines[0])] {
            var isShared = false
            while !isShared {
                let url = site.origin.url("/after\(number).png")
                _ = try await holder.load(url)
                isShared = try await finder.load(url).source == .shared
                number += 1
            }
        }
        // A primary that hands over is followed so fast that nothing may be noticed.
        let areDeaf = machines.allSatisfy { $0.events.events.contains { $0.isDeaf } }
        #expect(areDeaf || !isKilled)
    }
}
