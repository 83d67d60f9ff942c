import FleetServers
import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Testing

@testable import PipelineShared
@testable import Stages

@Suite("A fleet whose Redis fails", .withRedis, .timeLimit(.minutes(5)))
struct FleetOutageTests {
    private static let hasty = RedisLimits(request: .milliseconds(20), connecting: .milliseconds(20))

    @Test("loads from the origin, one request a machine and image, and warns once")
    func gone() async throws {
        let site = try FleetSite()
        site.server.kill()
        let machines = (0..<3).map { _ in site.machine(connecting: Self.hasty) }
        for machine in machines {
            try await withThrowingTaskGroup { group in
                for side in [16, 32, 64] {
                    group.addTask {
                        _ = try await machine.loader.load(
                            site.origin.url("/cat.png"),
                            options: LoadOptions(maxPixelSize: PixelSize(width: side, height: side)))
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(site.requests == 3)
        for machine in machines { #expect(machine.events.warnings.count == 1) }
    }

    @Test("loads from the origin while the server is stopped, and shares again when it continues")
    func stopped() async throws {
        let site = try FleetSite()
        let (first, second) = (site.machine(connecting: Self.hasty), site.machine())
        _ = try await first.load(site.origin.url("/a.png"))
        site.server.setStopped(true)
        for name in ["b", "c", "d", "e"] {
            #expect(try await first.load(site.origin.url("/\(name).png")).source == .network)
        }
        site.server.setStopped(false)
        await first.events.until { $0.contains(.restored) }
        // What was fetched meanwhile isn't shared; what comes next is.
        #expect(try await second.load(site.origin.url("/a.png")).source == .shared)
        #expect(try await first.load(site.origin.url("/f.png")).source == .network)
    }

    @Test("says for how long it hasn't heard of removals, and how slow the slowest reply was")
    func measured() async throws {
        let site = try FleetSite()
        let machine = site.machine()
        machine.fleet.join(machine.resources)
        #expect(try await machine.fleet.ready(within: .seconds(60)))
        // Its requests are measured over a second.
        var number = 0
        while machine.events.events.allSatisfy({ $0.latency == nil }) {
            number += 1
            _ = try await machine.load(site.origin.url("/\(number).png"))
        }
        #expect(machine.events.events.compactMap(\.latency).allSatisfy { $0 > .zero && $0 < .seconds(60) })
        site.server.kill()
        await machine.events.until { $0.compactMap(\.behind).count >= 2 }
        let times = machine.events.events.compactMap(\.behind)
        #expect(times[0] >= .zero && times[1] > times[0])
        try site.server.start()
        await machine.events.until { $0.count { $0 == .listening } == 2 }
    }

    @Test("loads from the origin while the server is full")
    func full() async throws {
        let site = try FleetSite()
        let (first, second) = (site.machine(), site.machine())
        _ = try await first.load(site.origin.url("/a.png"))
        _ = try await first.fleet.store.scripts.connection.send("CONFIG", "SET", "maxmemory", "1")
        #expect(try await first.load(site.origin.url("/b.png")).source == .network)
        #expect(try await second.load(site.origin.url("/a.png")).source == .shared)
        #expect(try await second.load(site.origin.url("/b.png")).source == .network)
        #expect(first.events.events.contains(.full))
    }

    @Test("delivers what a holder has fetched while the server was restarted empty")
    func restarted() async throws {
        let gate = try ScriptedOrigin.Gate()
        let picture = Picture.png(PixelSize(width: 64, height: 48))
        let site = try FleetSite { _ in .init(headers: [.cacheControl: "max-age=60"], body: picture).held(until: gate) }
        let machine = site.machine()
        let task = Task { try await machine.load(site.origin.url("/cat.png")) }
        await site.origin.until { $0.requests.count == 1 }
        site.server.kill()
        try site.server.start()
        gate.open()
        #expect(try await task.value.source == .network)
        #expect(try await site.machine().entries() == 0)
    }
}
