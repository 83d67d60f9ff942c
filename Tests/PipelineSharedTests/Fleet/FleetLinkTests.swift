import FleetServers
import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Testing

@testable import PipelineShared
@testable import Stages

@Suite("A fleet whose link to Redis is slow or cut", .withRedis, .timeLimit(.minutes(5)))
struct FleetLinkTests {
    private static let hasty = RedisLimits(request: .milliseconds(20), connecting: .milliseconds(20))
    private static let patient = RedisLimits(request: .seconds(10), connecting: .seconds(10))

    @Test("loads from the origin while the server pauses its clients, and shares again afterwards")
    func paused() async throws {
        let site = try FleetSite()
        let (first, second) = (site.machine(connecting: Self.hasty), site.machine())
        _ = try await first.load(site.origin.url("/a.png"))
        _ = try await second.fleet.store.scripts.connection.send("CLIENT", "PAUSE", "1000", "ALL")
        for name in ["b", "c", "d", "e"] {
            #expect(try await first.load(site.origin.url("/\(name).png")).source == .network)
        }
        #expect(site.requests == 5)
        #expect(first.events.warnings.count == 1)
        await first.events.until { $0.contains(.restored) }
        #expect(try await second.load(site.origin.url("/a.png")).source == .shared)
        #expect(try await first.load(site.origin.url("/f.png")).source == .network)
        #expect(try await second.load(site.origin.url("/f.png")).source == .shared)
    }

    @Test("doesn't wait for another machine's lease while the server pauses writes, although messages would come")
    func pausedWaiter() async throws {
        let gate = try ScriptedOrigin.Gate()
        let site = try FleetSite(holdingTheFirstUntil: gate)
        let url = site.origin.url("/a.png")
        let holder = site.machine(leaseLifetime: .seconds(600))
        let first = Task { try await holder.load(url) }
        await site.origin.until { $0.requests.count == 1 }
        let clock = ManualClock(now: Date())
        let waiter = site.machine(clock: clock, connecting: Self.hasty)
        let second = Task { try await waiter.load(url) }
        try await site.listeners(1)
        try site.server.send("CLIENT PAUSE 600000 WRITE")
        let time = Task {
            while true {
                try await clock.sleepers(1, includingLimits: true)
                clock.advance(by: .milliseconds(100))
            }
        }
        #expect(try await second.value.source == .network)
        time.cancel()
        // Less than its patience, and than the lease's lifetime.
        #expect(waiter.events.events.contains { if case .waited(let time) = $0 { time < .seconds(5) } else { false } })
        site.server.kill()
        gate.open()
        _ = try await first.value
    }

    @Test("loads from the origin, once a machine and image, over a link of 200 ms that is too slow")
    func slow() async throws {
        let site = try FleetSite()
        let machines = try (0..<2).map { _ in
            let relay = try Relay(to: site.server)
            relay.setDelay(milliseconds: 200)
            return (relay, site.machine(connecting: RedisLimits(), over: relay.address))
        }
        for (_, machine) in machines {
            for name in ["a", "b", "a", "b"] { _ = try await machine.load(site.origin.url("/\(name).png")) }
        }
        #expect(site.requests == 4)
        withExtendedLifetime(machines) {}
    }

    @Test("shares over a link of 200 ms if its limits allow for that")
    func slowButPatient() async throws {
        let site = try FleetSite()
        let relay = try Relay(to: site.server)
        relay.setDelay(milliseconds: 200)
        let far = site.machine(connecting: Self.patient, over: relay.address)
        #expect(try await far.load(site.origin.url("/a.png")).source == .network)
        #expect(try await site.machine().load(site.origin.url("/a.png")).source == .shared)
        #expect(
            try await site.machine(connecting: Self.patient, over: relay.address).load(site.origin.url("/a.png")).source
                == .shared)
        #expect(site.requests == 1)
        withExtendedLifetime(relay) {}
    }

    @Test("catches up on what became invalid while it was cut off, and shares again")
    func partition() async throws {
        let site = try FleetSite()
        let relay = try Relay(to: site.server)
        let cut = site.machine(
            connecting: RedisLimits(request: .milliseconds(50), connecting: .milliseconds(50)), over: relay.address)
        let other = site.machine()
        cut.fleet.join(cut.resources)
        await cut.events.until { $0.contains(.listening) }
        let url = site.origin.url("/a.png")
        _ = try await cut.load(url)
        #expect(try await cut.load(url).source == .memory)
        relay.setCut(true)
        for name in ["b", "c", "d"] {
            #expect(try await cut.load(site.origin.url("/\(name).png")).source == .network)
            #expect(try await other.load(site.origin.url("/\(name).png")).source == .network)
        }
        #expect(await other.fleet.remove(url))
        #expect(try await cut.load(url).source == .memory)
        relay.setCut(false)
        await cut.events.until { $0.contains(.restored) && $0.contains(.invalidated) }
        #expect(try await cut.load(url).source == .network)
        #expect(try await other.load(url).source == .shared)
        withExtendedLifetime(relay) {}
    }
}
