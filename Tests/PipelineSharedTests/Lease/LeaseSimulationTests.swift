import Foundation
import Pipeline
import PipelineHTTP
import PipelineTesting
import Testing

@testable import PipelineShared

private let seeds = ProcessInfo.processInfo.environment["FLEET_SEEDS"].flatMap { UInt64($0) } ?? 200

/// `FLEET_SEEDS=10000` runs more of them, as `make soak` does.
@Suite("Random histories of leases", .withRedis, .timeLimit(.minutes(seeds > 1000 ? 30 : 3)))
struct LeaseSimulationTests {
    @Test("lose no update, let no older number win, and refuse every commit without its lease, whatever the clocks say")
    func commits() async throws {
        let site = try SharedSite()
        let url = try #require(URL(string: "http://example.com/a.jpg"))
        let totals = try await withThrowingTaskGroup { group in
            for part in 0..<4 as Range<UInt64> {
                group.addTask {
                    // With a database of its own, and so with a clock of its own.
                    let store = site.store(database: Int(part)) { LeaseSimulation.scripts($0) }
                    var counts = (accepted: 0, refused: 0, repeated: 0)
                    for seed in stride(from: part, to: seeds, by: 4) {
                        var simulation = LeaseSimulation(seed: seed, store: store, url: url)
                        try await simulation.run(steps: 40)
                        counts.accepted += simulation.accepted
                        counts.refused += simulation.refused
                        counts.repeated += simulation.repeated
                    }
                    return counts
                }
            }
            return try await group.reduce((0, 0, 0)) { ($0.0 + $1.accepted, $0.1 + $1.refused, $0.2 + $1.repeated) }
        }
        // The histories have reached all of these.
        #expect(totals.0 > Int(seeds) && totals.1 > Int(seeds) && totals.2 > 0, "\(totals)")
    }

    @Test("wake every waiter, whatever becomes of the holders")
    func waiters() async throws {
        let site = try FleetSite()
        // Longer than the test may take: a waiter that isn't woken fails it.
        let fleets = (0..<3).map { _ in site.machine(leaseLifetime: .seconds(7200)).fleet }
        try await withThrowingTaskGroup { group in
            for part in 0..<50 as Range<UInt64> {
                group.addTask {
                    for seed in stride(from: part, to: seeds, by: 50) { try await Self.wake(seed, fleets) }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Lets six loads of three machines want the same, of which some die, fail, or store.
    private static func wake(_ seed: UInt64, _ fleets: [Fleet]) async throws {
        let stored = Lock(false)
        let holders = Lock((now: 0, most: 0))
        let name = "seed\(seed)"
        try await withThrowingTaskGroup { group in
            for load in 0..<6 as Range<UInt64> {
                group.addTask {
                    var random = SeededGenerator(seed: seed &* 6 &+ load)
                    let fleet = fleets[Int(load) % fleets.count]
                    for _ in 0..<Int.random(in: 0..<20, using: &random) { await Task.yield() }
                    if Int.random(in: 0..<4, using: &random) == 0 {
                        // A holder that dies at once: it took the lease and nothing renews it.
                        _ = try await fleet.store.scripts.run(
                            .acquire, keys: [fleet.store.keys.lease(name), fleet.store.keys.counter],
                            [RedisStore.digits(20), Array("\(load)".utf8)])
                        return
                    }
                    let turn = try await fleet.leases.turn(name, patience: .seconds(600)) { stored.withLock { $0 } }
                    guard case .hold(let lease) = turn, let hold = lease as? FleetHold else {
                        if case .found = turn { #expect(stored.withLock { $0 }) }
                        return
                    }
                    holders.withLock { holders in
                        holders.now += 1
                        holders.most = max(holders.most, holders.now)
                    }
                    for _ in 0..<Int.random(in: 0..<20, using: &random) { await Task.yield() }
                    let fails = Int.random(in: 0..<3, using: &random) == 0
                    holders.withLock { $0.now -= 1 }
                    if !fails { stored.withLock { $0 = true } }
                    await hold.end(fails ? .notShared : .stored)
                }
            }
            try await group.waitForAll()
        }
        #expect(holders.withLock { $0.most } <= 1, "seed \(seed): two held the lease")
    }
}
