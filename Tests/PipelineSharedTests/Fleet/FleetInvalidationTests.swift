import FleetServers
import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Testing

@testable import PipelineShared
@testable import Stages

@Suite("Invalidation in a fleet", .withRedis, .timeLimit(.minutes(5)))
struct FleetInvalidationTests {
    private let tagged: HTTPFields

    init() throws { tagged = [.cacheControl: "max-age=600", try #require(HTTPField.Name("Cache-Tag")): "sale, shoes"] }

    /// A machine that hears of invalidations.
    private func joined(_ site: FleetSite) async -> FleetMachine {
        let machine = site.machine()
        machine.fleet.join(machine.resources)
        await machine.events.until { $0.contains(.listening) }
        return machine
    }

    /// Waits until the machine has heard of the removal.
    private func isCleared(_ machine: FleetMachine) async throws {
        while machine.resources.memory.count > 0 {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    @Test("clears memory, disk and the shared tier of every machine, by URL and by tag", arguments: [true, false])
    func everywhere(byTag: Bool) async throws {
        let site = try FleetSite(tagged)
        let machines = [await joined(site), await joined(site), await joined(site)]
        let url = site.origin.url("/cat.png")
        for machine in machines { _ = try await machine.load(url) }
        #expect(site.requests == 1)
        #expect(await byTag ? machines[0].fleet.remove(tag: "shoes") : machines[0].fleet.remove(url))
        for machine in machines {
            await machine.events.until { $0.contains(.invalidated) }
            #expect(machine.resources.memory.count == 0)
        }
        #expect(try await machines[1].load(url).source == .network)
        #expect(try await machines[2].load(url).source == .shared)
        #expect(try await machines[0].load(url).source == .shared)
        #expect(site.requests == 2)
    }

    @Test(
        "by a caller's tag clears every tier of every machine, whether its load fetched the response or found it",
        arguments: ["fetched, 50 %", "found", "in memory", "confirmed", "fetched again"])
    func callersTag(tag: String) async throws {
        var fields = tagged
        if tag == "confirmed" { fields[.eTag] = "\"1\"" }
        let site = try FleetSite(fields)
        let machines = [await joined(site), await joined(site), await joined(site)]
        let url = site.origin.url("/cat.png")
        func load(_ number: Int, _ tags: Set<String>) async throws -> LoadSource {
            try await machines[number].loader.load(url, options: LoadOptions(tags: tags)).source
        }
        #expect(try await load(0, ["fetched, 50 %"]) == .network)
        #expect(try await load(1, []) == .shared)
        #expect(try await load(2, ["found"]) == .shared)
        #expect(try await load(1, ["in memory"]) != .network)
        var headers: HTTPFields = [:]
        headers[.cacheControl] = "no-cache"
        _ = try await machines[2].loader.load(
            url, options: LoadOptions(headers: headers, tags: ["confirmed", "fetched again"]))
        for machine in machines { #expect(machine.resources.memory.count > 0) }
        #expect(await machines[1].fleet.remove(tag: tag))
        for machine in machines { try await isCleared(machine) }
        #expect(try await load(0, []) == .network)
    }

    @Test(
        "by the tag of a load that waited for another's, on its machine or another, clears every tier of every machine")
    func waitersTag() async throws {
        let gate = try ScriptedOrigin.Gate()
        let site = try FleetSite(holdingTheFirstUntil: gate)
        let machines = [await joined(site), await joined(site)]
        let url = site.origin.url("/cat.png")
        async let first = machines[0].loader.load(url, options: LoadOptions(tags: ["a"]))
        while site.requests == 0 { await Task.yield() }
        async let second = machines[0].loader.load(url, options: LoadOptions(tags: ["b"]))
        async let third = machines[1].loader.load(url, options: LoadOptions(tags: ["c"]))
        try await site.listeners(1)
        gate.open()
        _ = try await (first, second, third)
        #expect(site.requests == 1)
        for (count, tag) in [(1, "b"), (2, "c")] {
            #expect(await machines[1].fleet.remove(tag: tag))
            for machine in machines { try await isCleared(machine) }
            #expect(try await machines[0].load(url).source == .network)
            #expect(site.requests == count + 1)
            _ = try await machines[0].loader.load(url, options: LoadOptions(tags: ["c"]))
        }
    }

    @Test("that was missed is caught up on when the connection is back")
    func catchingUp() async throws {
        let site = try FleetSite(tagged)
        let (machine, other) = (await joined(site), site.machine())
        let url = site.origin.url("/cat.png")
        _ = try await machine.load(url)
        #expect(machine.resources.memory.count == 1)
        // Without the message: the connection was lost while it was sent.
        let channel = machine.fleet.store.keys.invalidations
        _ = try await other.fleet.store.scripts.connection.send("CONFIG", "SET", "maxclients", "1000")
        try await other.fleet.store.silently(invalidate: "tag:sale", instead: channel)
        #expect(machine.resources.memory.count == 1)
        _ = try await other.fleet.store.scripts.connection.send("CLIENT", "KILL", "TYPE", "pubsub")
        await machine.events.until { $0.contains(.invalidated) }
        #expect(machine.resources.memory.count == 0)
        #expect(!machine.events.events.contains(.droppedMemory))
        #expect(try await machine.load(url).source == .network)
    }

    @Test("empties memory if the server has lost what was invalidated")
    func dataLost() async throws {
        let site = try FleetSite(tagged)
        let machine = await joined(site)
        _ = try await machine.load(site.origin.url("/cat.png"))
        site.server.kill()
        try site.server.start()
        await machine.events.until { $0.contains(.droppedMemory) }
        #expect(machine.resources.memory.count == 0)
    }

    @Test("that was missed is caught up on although the server came back empty with a clock that is behind")
    func clockSetBack() async throws {
        let site = try FleetSite(tagged)
        let (machine, other) = (await joined(site), site.machine())
        let (url, keys) = (site.origin.url("/cat.png"), machine.fleet.store.keys)
        // As if the clock had been an hour ahead before.
        let ahead = Date().microsecondsSince1970 + 3_600_000_000
        _ = try await other.fleet.store.scripts.connection.send("SET", keys.counter, "\(ahead)")
        #expect(await other.fleet.remove(tag: "shoes"))
        await machine.events.until { $0.contains(.invalidated) }
        site.server.kill()
        try site.server.start()
        await machine.events.until { $0.contains(.droppedMemory) && $0.count { $0 == .listening } == 2 }
        _ = try await machine.load(url)
        try await other.fleet.store.silently(invalidate: "tag:sale", instead: keys.invalidations)
        _ = try await other.fleet.store.scripts.connection.send("CLIENT", "KILL", "TYPE", "pubsub")
        await machine.events.until { $0.count { $0 == .invalidated } == 2 }
        #expect(machine.resources.memory.count == 0)
    }

    @Test("clears this machine, and says that the others don't know, if Redis is gone")
    func gone() async throws {
        let site = try FleetSite(tagged)
        let machine = await joined(site)
        _ = try await machine.load(site.origin.url("/cat.png"))
        site.server.kill()
        #expect(await !machine.fleet.remove(site.origin.url("/cat.png")))
        #expect(machine.resources.memory.count == 0)
    }
}

extension RedisStore {
    /// Makes a target invalid, with the message on another channel.
    fileprivate func silently(invalidate target: String, instead channel: String) async throws {
        _ = try await scripts.run(
            .invalidate,
            keys: [
                keys.counter, keys.epochs + keys.epoch(target), keys.log, keys.noted,
                keys.taggedURLs + keys.epoch(target),
            ],
            [
                Array(target.utf8), Array((channel + "-lost").utf8), Self.digits(600_000), Self.digits(10_000),
                Self.digits(86_400_000_000), Array(keys.epochs.utf8),
            ])
    }
}
