import FleetServers
import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Testing

@testable import PipelineShared
@testable import Stages

@Suite("The doctor of a fleet", .withRedis, .timeLimit(.minutes(5)))
struct FleetDoctorTests {
    private let site: FleetSite

    init() throws { site = try FleetSite() }

    @Test(
        "names each right that a user lacks, as it is given",
        arguments: [
            ("+@all -hset -publish ~* &*", "run ACL SETUSER images +hset +publish"),
            ("+@all -evalsha ~* &*", "run ACL SETUSER images +evalsha"),
            ("+@all -client|setname -unsubscribe ~* &*", "run ACL SETUSER images +client|setname +unsubscribe"),
            ("+@all ~other:* &*", "run ACL SETUSER images ~pipeline:*"),
            ("+@all ~* &other:*", "run ACL SETUSER images &pipeline:*"),
        ])
    func rights(_ rules: String, _ advice: String) async throws {
        let fleet = site.machine(over: try site.server.address(allowing: rules)).fleet
        let trial = try await fleet.tryRights()
        #expect(trial.state == "some are missing: " + advice)
        #expect(!trial.isWell)
    }

    @Test(
        "hears itself, or says why not",
        arguments: ["", "-publish", "-subscribe", "resetchannels", "resetchannels &*:inv"])
    func messages(_ rules: String) async throws {
        let fleet = site.machine(
            connecting: RedisLimits(request: .seconds(1), connecting: .seconds(1)),
            over: try site.server.address(allowing: "+@all ~* &* \(rules)")
        ).fleet
        let trial = try await fleet.tryMessages()
        #expect(trial.isWell == rules.isEmpty)
        #expect(rules.isEmpty || trial.state.contains("+subscribe +exec +publish &pipeline:*"), "\(trial.state)")
        #expect(rules.isEmpty || trial.state.contains("NOPERM") || rules == "-publish", "\(trial.state)")
    }

    @Test(
        "compares the clocks",
        arguments: [
            (0, true, "the server's agrees with this machine's"),
            (1.6, true, "behind this machine's; let NTP set both"),
            (-1.6, true, "ahead of this machine's; let NTP set both"),
            (-60, false, "s ahead of this machine's, and images expire too early or too late; let NTP set both"),
        ] as [(Double, Bool, String)])
    func clocks(_ difference: Double, _ isWell: Bool, _ state: String) async throws {
        // Stopped, so that the reply takes no time by it.
        let clock = ManualClock(now: Date() + difference)
        let trial = try await site.machine(clock: clock).fleet.tryClock()
        #expect(trial.state.hasSuffix(state), "\(trial.state)")
        #expect(trial.isWell == isWell)
    }

    @Test(
        "advises on every policy of eviction but two",
        arguments: [
            ("volatile-lru", nil), ("volatile-lfu", nil), ("noeviction", "nothing new is stored"),
            ("allkeys-lru", "log of removals"), ("allkeys-random", "log of removals"),
            ("volatile-ttl", "leases go first"),
            ("volatile-random", "leases"),
        ] as [(String, String?)])
    func eviction(_ policy: String, _ words: String?) async throws {
        try site.server.send("CONFIG SET maxmemory-policy \(policy)")
        let state = try #require(try await site.machine().fleet.inspectServer()).eviction
        if let words {
            #expect(state.hasPrefix("\(policy): ") && state.contains(words))
            #expect(state.hasSuffix("; set maxmemory-policy to volatile-lru"))
        } else {
            #expect(state == policy)
        }
    }

    @Test("says what a restart loses, by what this user may see")
    func persistence() async throws {
        func persistence(_ fleet: Fleet) async throws -> Fleet.Trial {
            try #require(try await fleet.inspectServer()).persistence(await fleet.snapshots())
        }
        let fleet = site.machine().fleet
        #expect(try await persistence(fleet) == ("none: it is empty after a restart, and fills again", true))
        try site.server.send("CONFIG SET save \"3600 1\"")
        let snapshots = try await persistence(fleet)
        #expect(snapshots.state.contains("brings back what was removed") && !snapshots.isWell)
        let unseeing = site.machine(over: try site.server.address(allowing: "+@all -config ~* &*")).fleet
        #expect(try await persistence(unseeing).state.contains("allow CONFIG GET"))
        try site.server.send("CONFIG SET appendonly yes")
        #expect(try await persistence(fleet).state.hasPrefix("each change is written"))
    }

    @Test("is right that a snapshot brings back what was removed since")
    func snapshot() async throws {
        let url = site.origin.url("/a.png")
        #expect(try await site.machine().load(url).source == .network)
        try site.server.send("SAVE")
        #expect(await site.machine().fleet.remove(url))
        #expect(try await site.machine().fleet.cache.statistics()?.entries == 0)
        site.server.kill()
        try site.server.start()
        #expect(try await site.machine().load(url).source == .shared)
    }

    @Test("asks INFO silently, since nothing but it needs that")
    func information() async throws {
        let machine = site.machine(over: try site.server.address(allowing: "+@all -@dangerous ~* &*"))
        _ = try await machine.load(site.origin.url("/a.png"))
        #expect(try await machine.fleet.inspectServer() == nil)
        #expect(try await machine.fleet.cache.statistics()?.entries == 1)
        #expect(try await machine.fleet.removeAll() == 1)
        #expect(machine.events.warnings == [])
    }
}
