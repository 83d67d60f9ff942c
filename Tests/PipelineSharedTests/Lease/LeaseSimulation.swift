import Foundation
import HTTPTypes
import Pipeline
import PipelineHTTP
import PipelineTesting
import Testing

@testable import PipelineShared

/// One random history of holders, commits and faults on a real server, next to a model of what may happen.
///
/// Each step is one command of one machine, so any two machines' commands come in any order, and a holder's commit comes
/// any time after its lease. Times to live are the model's: a lease ends when the history says so, as if its holder's
/// clock or the server's were wrong by any amount.
struct LeaseSimulation {
    private struct Holder {
        let token: FleetLeaseToken
        let version: UInt8
        let requested: Date
    }

    private let store: RedisStore
    private let url: URL
    private let seed: UInt64
    private var random: SeededGenerator

    /// Machines that think that they hold the lease, alive or stopped.
    private var holders: [Holder] = []
    /// The number of the lease in force.
    private var current: Int64?
    /// The largest number that was granted.
    private var largest: Int64 = 0
    /// The number of the last invalidation.
    private var invalidated: Int64 = 0
    /// What a lookup has to find, and the number of its commit.
    private var stored: (version: UInt8, token: Int64)?
    private var version: UInt8 = 0
    private var now = Date(timeIntervalSince1970: 1_700_000_000)
    private(set) var accepted = 0
    private(set) var refused = 0

    init(seed: UInt64, store: RedisStore, url: URL) {
        self.seed = seed
        self.store = RedisStore(
            scripts: store.scripts, keys: FleetKeys(namespace: "seed\(seed)"), limits: store.limits,
            reports: store.reports)
        self.url = url
        random = SeededGenerator(seed: seed)
    }

    /// Runs the history.
    mutating func run(steps: Int) async throws {
        for _ in 0..<steps {
            switch Int.random(in: 0..<16, using: &random) {
            case 0..<5: try await acquire()
            case 5..<9: try await commit()
            case 9: try await renew()
            case 10: try await release()
            case 11: try await expire()
            case 12: if let index = holders.indices.randomElement(using: &random) { holders.remove(at: index) }
            case 13: try await invalidate()
            case 14: try await loseData()
            default: version &+= 1
            }
            try await check()
        }
        _ = try await store.scripts.connection.send(
            "DEL", store.keys.entry(key), store.keys.counter, store.keys.generations, store.keys.log,
            store.keys.lease(name), store.keys.epochs + store.keys.epoch(url.targetText))
    }

    private var key: SourceKey { SourceKey(digest: Digest(of: "image")) }
    private var name: String { "lease" }

    private mutating func acquire() async throws {
        let reply = try await store.scripts.run(
            .acquire, keys: [store.keys.lease(name), store.keys.counter], [RedisStore.digits(600_000)])
        let number = try #require(reply.array?.first?.integer)
        guard number > 0 else {
            #expect(current != nil, "seed \(seed): a free lease was refused")
            return
        }
        #expect(current == nil, "seed \(seed): a lease was granted twice")
        #expect(number > largest, "seed \(seed): a number didn't rise")
        #expect(number > invalidated, "seed \(seed)")
        (current, largest) = (number, number)
        now += 1
        // A machine's clock may be wrong by a second or two.
        let skew = Double.random(in: -0.4...0.4, using: &random)
        holders.append(
            Holder(token: FleetLeaseToken(name: name, number: number), version: version, requested: now + skew))
    }

    private mutating func commit() async throws {
        guard let index = holders.indices.randomElement(using: &random) else { return }
        let holder = holders.remove(at: index)
        let exchange = HTTPExchange(
            url: url, status: 200, headers: [.cacheControl: "max-age=600"], requestTime: holder.requested,
            responseTime: holder.requested, body: [holder.version])
        var fenced = store
        fenced.lease = holder.token
        let clock = ManualClock(now: now)
        let kept = await HTTPCache(store: fenced, isShared: true, clock: clock).commit(exchange, for: key)
        let mayCommit = current == holder.token.number && invalidated < holder.token.number
        #expect((kept != nil) == mayCommit, "seed \(seed): holder \(holder.token.number), lease \(current ?? 0)")
        guard kept != nil else {
            refused += 1
            return
        }
        accepted += 1
        #expect(stored.map { $0.token < holder.token.number } ?? true, "seed \(seed): an older number has won")
        stored = (holder.version, holder.token.number)
        current = nil
    }

    private mutating func renew() async throws {
        guard let holder = holders.randomElement(using: &random) else { return }
        let reply = try await store.scripts.run(
            .renew, keys: [store.keys.lease(name)], [holder.token.digits, RedisStore.digits(600_000)])
        #expect((reply.integer == 1) == (current == holder.token.number), "seed \(seed)")
    }

    private mutating func release() async throws {
        guard let index = holders.indices.randomElement(using: &random) else { return }
        let holder = holders.remove(at: index)
        let reply = try await store.scripts.run(
            .release, keys: [store.keys.lease(name)],
            [holder.token.digits, Array("nobody".utf8), Array(LeaseOutcome.notShared.rawValue.utf8)])
        #expect((reply.integer == 1) == (current == holder.token.number), "seed \(seed)")
        if current == holder.token.number { current = nil }
    }

    private mutating func expire() async throws {
        _ = try await store.scripts.connection.send("DEL", store.keys.lease(name))
        current = nil
    }

    private mutating func invalidate() async throws {
        invalidated = try await store.invalidation(of: url.targetText).number
        #expect(invalidated > largest, "seed \(seed)")
        stored = nil
        // A response that is requested later may be stored.
        now += 1
    }

    /// The server comes back empty.
    private mutating func loseData() async throws {
        _ = try await store.scripts.connection.send(
            "DEL", store.keys.entry(key), store.keys.counter, store.keys.generations, store.keys.log,
            store.keys.lease(name), store.keys.epochs + store.keys.epoch(url.targetText))
        (current, stored) = (nil, nil)
    }

    private func check() async throws {
        let found = try await HTTPCache(store: store, isShared: true, clock: ManualClock(now: now)).lookup(key)
        switch (found, stored) {
        case (.miss(.nothingStored), nil): break
        case (.fresh(let response, _), let stored?):
            #expect(response.body == [stored.version], "seed \(seed): an update was lost")
        default: Issue.record("seed \(seed): found \(found) instead of \(String(describing: stored))")
        }
    }
}
