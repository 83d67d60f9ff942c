import Foundation
import HTTPTypes
import Pipeline
import PipelineHTTP
import PipelineTesting
import Testing

@testable import PipelineShared
@testable import Stages

@Suite("Leases of a fleet", .withRedis, .timeLimit(.minutes(5)))
struct FleetLeaseTests {
    /// Loads through a machine that is stopped at the origin, and returns once it is there.
    private func stopped(_ site: FleetSite, _ machine: FleetMachine) async -> Task<ImageResponse, any Error> {
        let task = Task { try await machine.load(site.origin.url("/cat.png")) }
        await site.origin.until { $0.requests.count == 1 }
        return task
    }

    /// The name of the only lease.
    private func lease(_ machine: FleetMachine) async throws -> String {
        let store = machine.fleet.store
        let names = try await store.scripts.connection.send("KEYS", store.keys.lease("*")).array ?? []
        #expect(names.count == 1)
        return try #require(names.first?.text)
    }

    @Test("that their holder doesn't renew end, and the next waiter fetches")
    func deadHolder() async throws {
        let gate = try ScriptedOrigin.Gate()
        let site = try FleetSite(holdingTheFirstUntil: gate)
        // Its clock stands still, so it renews nothing, as if it were dead.
        let dead = site.machine(leaseLifetime: .milliseconds(300), clock: ManualClock(now: Date()))
        let task = await stopped(site, dead)
        let second = site.machine()
        #expect(try await second.load(site.origin.url("/cat.png")).source == .network)
        #expect(site.requests == 2)
        let generation = try #require(try await second.fleet.store.totals()).latestGeneration
        // It comes back with its response.
        gate.open()
        #expect(try await task.value.source == .network)
        // The store has refused it.
        #expect(dead.events.events.contains(.commitRefused))
        #expect(try await second.fleet.store.totals()?.latestGeneration == generation)
    }

    @Test("that ended while nobody else fetched refuse their holder's commit too")
    func lostLease() async throws {
        let gate = try ScriptedOrigin.Gate()
        let picture = Picture.png(PixelSize(width: 64, height: 48))
        let site = try FleetSite { _ in .init(headers: [.cacheControl: "max-age=60"], body: picture).held(until: gate) }
        let machine = site.machine()
        let task = await stopped(site, machine)
        _ = try await machine.fleet.store.scripts.connection.send("DEL", try await lease(machine))
        gate.open()
        #expect(try await task.value.source == .network)
        #expect(machine.events.events.contains(.commitRefused))
        #expect(try await machine.entries() == 0)
    }

    @Test("are renewed as long as their holder works")
    func renewal() async throws {
        let gate = try ScriptedOrigin.Gate()
        let picture = Picture.png(PixelSize(width: 64, height: 48))
        let site = try FleetSite { _ in .init(headers: [.cacheControl: "max-age=60"], body: picture).held(until: gate) }
        let clock = ManualClock(now: Date())
        let machine = site.machine(leaseLifetime: .seconds(60), clock: clock)
        let task = await stopped(site, machine)
        let (connection, name) = (machine.fleet.store.scripts.connection, try await lease(machine))
        _ = try await connection.send("PEXPIRE", name, "30000")
        try await clock.sleepers(1, includingLimits: true)
        clock.advance(by: .seconds(20))
        while try await connection.send("PTTL", name).integer ?? 0 <= 30000 {}
        gate.open()
        _ = try await task.value
        #expect(try await connection.send("EXISTS", name).integer == 0)
    }

    @Test("refuse a response whose URL became invalid while it was fetched")
    func invalidated() async throws {
        let gate = try ScriptedOrigin.Gate()
        let picture = Picture.png(PixelSize(width: 64, height: 48))
        let site = try FleetSite { _ in .init(headers: [.cacheControl: "max-age=60"], body: picture).held(until: gate) }
        let (machine, other) = (site.machine(), site.machine())
        let task = await stopped(site, machine)
        #expect(await other.fleet.remove(site.origin.url("/cat.png")))
        gate.open()
        #expect(try await task.value.source == .network)
        #expect(machine.events.events.contains(.commitRefused))
        #expect(try await other.load(site.origin.url("/cat.png")).source == .network)
        #expect(site.requests == 2)
    }

    @Test("have numbers that rise even if the server has lost its data or its clock is behind")
    func numbers() async throws {
        let machine = try FleetSite().machine()
        defer { withExtendedLifetime(machine) {} }
        let (leases, store) = (machine.fleet.leases, machine.fleet.store)
        var last: Int64 = 0
        for round in 0..<20 {
            guard case .hold(let lease) = try await leases.turn("a", patience: .seconds(1), look: { false }),
                let hold = lease as? FleetHold
            else { throw Unexpected() }
            #expect(hold.token.number > last)
            last = hold.token.number
            await hold.end(.stored)
            switch round {
            case 5: _ = try await store.scripts.connection.send("FLUSHALL")
            // As if the clock had been set back by an hour since.
            case 10:
                last += 3_600_000_000
                _ = try await store.scripts.connection.send("SET", store.keys.counter, "\(last)")
            default: break
            }
        }
    }

    @Test("let a waiter go at once when its task is cancelled")
    func cancellation() async throws {
        let gate = try ScriptedOrigin.Gate()
        let site = try FleetSite { _ in .init(status: 404).held(until: gate) }
        let holder = await stopped(site, site.machine())
        let waiter = Task { try await site.machine().load(site.origin.url("/cat.png")) }
        try await site.listeners(1)
        waiter.cancel()
        await #expect(throws: CancellationError.self) { _ = try await waiter.value }
        try await site.listeners(0)
        gate.open()
        await #expect(throws: LoadError.self) { _ = try await holder.value }
    }

    @Test("aren't waited for longer than the caller's patience")
    func patience() async throws {
        let gate = try ScriptedOrigin.Gate()
        let site = try FleetSite { _ in .init(status: 404).held(until: gate) }
        let holder = await stopped(site, site.machine(leaseLifetime: .seconds(600)))
        let clock = ManualClock(now: Date())
        let machine = site.machine(clock: clock)
        let task = Task { try await machine.load(site.origin.url("/cat.png")) }
        try await site.listeners(1)
        try await clock.sleepers(1, includingLimits: true)
        // Sleepers are the wait for the confirmation, then the one for the holder: both end.
        while site.requests < 2 {
            clock.advance(by: .seconds(10))
            await Task.yield()
        }
        gate.open()
        await #expect(throws: LoadError.self) { _ = try await holder.value }
        await #expect(throws: LoadError.self) { _ = try await task.value }
    }
}
