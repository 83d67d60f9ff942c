import FleetServers
import Foundation
import Pipeline
import PipelineTesting
import Testing

@testable import PipelineShared
@testable import Stages

@Suite("A Redis server that refuses", .withRedis, .timeLimit(.minutes(5)))
struct FleetRefusalTests {
    private static let quick = RedisLimits(request: .milliseconds(500), connecting: .milliseconds(500))

    @Test("what a user may not do is told once a minute, and by an event each time")
    func forbidden() async throws {
        let site = try FleetSite()
        let machine = site.machine(over: try site.server.address(allowing: "~* &* +@all -evalsha"))
        for name in ["a", "b", "c"] {
            #expect(try await machine.load(site.origin.url("/\(name).png")).source == .network)
        }
        let refusals = machine.events.events.filter {
            if case .refused(let why) = $0 { why.hasPrefix("NOPERM") } else { false }
        }
        #expect(refusals.count >= 3)
        let warnings = machine.events.warnings.filter { $0.contains("refuses requests: NOPERM") }
        #expect(warnings.count == 1)
        #expect(!warnings.contains { $0.contains("..") }, "\(warnings)")
    }

    @Test("to listen to the ends of leases is told, and loads then don't wait for other machines")
    func unheardLeases() async throws {
        let gate = try ScriptedOrigin.Gate()
        let site = try FleetSite(holdingTheFirstUntil: gate)
        let machine = site.machine(over: try site.server.address(allowing: "~* &*:inv +@all"))
        let url = site.origin.url("/a.png")
        let holder = site.machine()
        async let held = holder.load(url)
        await site.origin.until { $0.requests.count == 1 }
        #expect(try await machine.load(url).source == .network)
        #expect(
            machine.events.events.contains { if case .refused(let why) = $0 { why.hasPrefix("NOPERM") } else { false } }
        )
        gate.open()
        _ = try await held
    }

    @Test("connections again and again is told once a minute")
    func flapping() throws {
        let (events, clock) = (EventRecorder(), ManualClock())
        let reports = FleetReports(
            RedisAddress(.socket(path: "/a")), observers: [events], logger: events.logger, clock: clock)
        for _ in 0..<10 {
            reports.change(.lost(.timedOut))
            reports.hear(.timedOut)
            reports.change(.restored)
            reports.hear(nil)
            clock.advance(by: .seconds(10))
        }
        #expect(events.warnings.count == 4)
        #expect(events.events.count == 40)
    }

    @Test("writes since it has become a replica is left for the one to which its address leads by now")
    func failover() async throws {
        let (site, next) = (try FleetSite(), try RedisServer())
        let link = site.server.folder + "/current"
        func lead(to server: RedisServer) throws {
            try? FileManager.default.removeItem(atPath: link)
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: server.socket)
        }
        try lead(to: site.server)
        let machine = site.machine(connecting: Self.quick, over: RedisAddress(.socket(path: link)))
        machine.fleet.join(machine.resources)
        #expect(try await machine.fleet.ready(within: .seconds(60)))
        _ = try await machine.load(site.origin.url("/a.png"))
        // It keeps its connections, as a primary does that is told so by hand.
        try site.server.send("REPLICAOF 127.0.0.1 1")
        #expect(try await machine.load(site.origin.url("/b.png")).source == .network)
        await machine.events.until {
            $0.contains { if case .lost(let why) = $0 { why.contains("READONLY") } else { false } }
        }
        try lead(to: next)
        await machine.events.until { $0.contains(.restored) && $0.count { $0 == .listening } == 2 }
        let other = site.machine(over: next.address)
        #expect(try await other.load(site.origin.url("/c.png")).source == .network)
        #expect(try await machine.load(site.origin.url("/c.png")).source == .shared)
        #expect(await other.fleet.remove(site.origin.url("/c.png")))
        await machine.events.until { $0.contains(.invalidated) }
        withExtendedLifetime(next) {}
    }

    @Test(
        "nothing for a counter that another program has changed",
        arguments: ["abc", "1e400", "-1", "99999999999999999999"])
    func counter(value: String) async throws {
        let site = try FleetSite()
        let machine = site.machine()
        try site.server.send("SET \(machine.fleet.store.keys.counter) \(value)")
        #expect(try await machine.load(site.origin.url("/a.png")).source == .network)
        #expect(try await site.machine().load(site.origin.url("/a.png")).source == .shared)
        #expect(await machine.fleet.remove(site.origin.url("/a.png")))
        #expect(try await site.machine().load(site.origin.url("/a.png")).source == .network)
    }

    @Test("no name of a client: CLIENT LIST has it")
    func clientName() async throws {
        let site = try FleetSite()
        var address = site.server.address
        address.clientName = "thumbnails 7"
        let machine = site.machine(over: address)
        _ = try await machine.load(site.origin.url("/a.png"))
        let list = try await machine.fleet.store.scripts.connection.send("CLIENT", "LIST").text ?? ""
        #expect(list.contains("name=thumbnails7 "))
    }
}
