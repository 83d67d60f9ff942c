import FleetServers
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
/// any time after its lease. Times to live are the model's: a lease ends when the history says so, as if the server's
/// time passed at any rate. The clocks of the machines are wrong by hours and go at half or twice the rate. The server's
/// is the model's too, and is set back when it loses its data, so that numbers are granted again.
struct LeaseSimulation {
    private struct Holder {
        let token: FleetLeaseToken
        let version: UInt8
        /// The machine, and when it asked the origin by its own clock.
        let machine: Int
        let requested: Date
        /// The response that the origin has confirmed; `nil` if it has sent another.
        let confirmed: StoredResponse?
    }

    /// A machine's clock.
    private struct Clock {
        let offset: Double
        let rate: Double
    }

    private let store: RedisStore
    private let url: URL
    private let seed: UInt64
    private var random: SeededGenerator

    private let clocks: [Clock]
    /// The time that has really passed, in seconds.
    private var passed = 0.0
    /// The server's clock, in microseconds.
    private var serverTime: Int64 = 1_700_000_000_000_000
    /// The largest number since the server has lost its data.
    private var last: Int64 = 0

    /// Machines that think that they hold the lease, alive or stopped.
    private var holders: [Holder] = []
    /// The lease in force.
    private var current: FleetLeaseToken?
    /// The number of the last invalidation since the server has lost its data.
    private var invalidated: Int64 = 0
    /// What a lookup has to find, and the number of its commit.
    private var stored: (version: UInt8, token: Int64)?
    private var version: UInt8 = 0
    private var granted: Set<Int64> = []
    private(set) var accepted = 0
    private(set) var refused = 0
    /// How many numbers were granted twice, since the server's clock was set back.
    private(set) var repeated = 0

    init(seed: UInt64, store: RedisStore, url: URL) {
        self.seed = seed
        self.store = RedisStore(
            scripts: store.scripts, keys: FleetKeys(namespace: "seed\(seed)"), limits: store.limits,
            reports: store.reports)
        self.url = url
        random = SeededGenerator(seed: seed)
        clocks = (0..<4).map { [random] machine in
            var random = random
            for _ in 0..<machine { _ = random.next() }
            return Clock(
                offset: .random(in: -7200...7200, using: &random), rate: .random(in: 0.5...2, using: &random))
        }
    }

    /// Scripts that ask a key for the server's time.
    static func scripts(_ connection: RedisConnection) -> RedisScripts {
        RedisScripts.$adaptation.withValue(RedisServer.withClockOfKey) { RedisScripts(connection) }
    }

    /// Runs the history.
    mutating func run(steps: Int) async throws {
        for _ in 0..<steps {
            try await passTime()
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
        _ = try await store.scripts.connection.send(["DEL"].map { Array($0.utf8) } + names)
    }

    private var key: SourceKey { SourceKey(digest: BLAKE2bDigest(of: "image")) }
    private var name: String { "lease" }
    private var names: [[UInt8]] {
        let keys = store.keys
        return [
            keys.entry(key), keys.counter, keys.generations, keys.log, keys.lease(name),
            keys.epochs + keys.epoch(url.targetText),
        ].map { Array($0.utf8) }
    }

    /// Lets time pass: up to ten seconds, but less than it takes for two numbers on the server.
    private mutating func passTime() async throws {
        passed += .random(in: 0...10, using: &random)
        serverTime += .random(in: 0...2, using: &random)
        try await setServerTime()
    }

    private func setServerTime() async throws {
        let (seconds, rest) = serverTime.quotientAndRemainder(dividingBy: 1_000_000)
        _ = try await store.scripts.connection.send(
            "HSET", "time", "seconds", "\(seconds)", "microseconds", "\(rest)")
    }

    /// The time by a machine's clock.
    private func time(of machine: Int) -> Date {
        Date(timeIntervalSince1970: 1_700_000_000 + clocks[machine].offset + passed * clocks[machine].rate)
    }

    private func cache(_ store: RedisStore, of machine: Int) -> HTTPCache {
        HTTPCache(store: store, isShared: true, clock: ManualClock(now: time(of: machine)))
    }

    /// Checks a number that the server has given: the larger of a counter and its time.
    private mutating func take(_ number: Int64) {
        #expect(number > last && number >= serverTime, "seed \(seed): a number didn't rise")
        last = number
    }

    private mutating func acquire() async throws {
        let machine = clocks.indices.randomElement(using: &random) ?? 0
        let mark = String(random.next(), radix: 36)
        let reply = try await store.scripts.run(
            .acquire, keys: [store.keys.lease(name), store.keys.counter],
            [RedisStore.digits(600_000), Array(mark.utf8)])
        let number = try #require(reply.array?.first?.integer)
        guard number > 0 else {
            #expect(current != nil, "seed \(seed): a free lease was refused")
            return
        }
        #expect(current == nil, "seed \(seed): a lease was granted twice")
        take(number)
        if !granted.insert(number).inserted { repeated += 1 }
        let token = FleetLeaseToken(name: name, number: number, mark: mark)
        current = token
        var confirmed: StoredResponse?
        if stored != nil, Bool.random(using: &random) { confirmed = try await found(by: machine) }
        holders.append(
            Holder(
                token: token, version: confirmed?.body.first ?? version, machine: machine, requested: time(of: machine),
                confirmed: confirmed))
    }

    private mutating func commit() async throws {
        guard let index = holders.indices.randomElement(using: &random) else { return }
        let holder = holders.remove(at: index)
        var fenced = store
        fenced.lease = holder.token
        fenced.settledGeneration = holder.token.number
        let cache = cache(fenced, of: holder.machine)
        let exchange = HTTPExchange(
            url: url, status: holder.confirmed == nil ? 200 : 304, headers: [.cacheControl: "max-age=600"],
            requestTime: holder.requested, responseTime: holder.requested,
            body: holder.confirmed == nil ? [holder.version] : [])
        let kept: StoredResponse? =
            if let confirmed = holder.confirmed {
                await cache.freshen(confirmed, by: exchange)
            } else {
                await cache.commit(exchange, for: key)
            }
        let mayCommit = current == holder.token && invalidated < holder.token.number
        #expect(
            (kept != nil) == mayCommit, "seed \(seed): holder \(holder.token.number), lease \(current?.number ?? 0)")
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
            .renew, keys: [store.keys.lease(name)], [holder.token.value, RedisStore.digits(600_000)])
        #expect((reply.integer == 1) == (current == holder.token), "seed \(seed)")
    }

    private mutating func release() async throws {
        guard let index = holders.indices.randomElement(using: &random) else { return }
        let holder = holders.remove(at: index)
        let reply = try await store.scripts.run(
            .release, keys: [store.keys.lease(name)],
            [holder.token.value, Array("nobody".utf8), Array(LeaseOutcome.notShared.rawValue.utf8)])
        #expect((reply.integer == 1) == (current == holder.token), "seed \(seed)")
        if current == holder.token { current = nil }
    }

    private mutating func expire() async throws {
        _ = try await store.scripts.connection.send("DEL", store.keys.lease(name))
        current = nil
    }

    private mutating func invalidate() async throws {
        invalidated = try await store.invalidation(of: url.targetText).number
        take(invalidated)
        stored = nil
    }

    /// The server comes back empty, often with a clock that is a little behind.
    private mutating func loseData() async throws {
        _ = try await store.scripts.connection.send(["DEL"].map { Array($0.utf8) } + names)
        (current, stored, last, invalidated) = (nil, nil, 0, 0)
        serverTime -= .random(in: 0...20, using: &random)
        try await setServerTime()
    }

    /// What a machine finds, fresh or stale by its own clock.
    private func found(by machine: Int) async throws -> StoredResponse? {
        switch try await cache(store, of: machine).lookup(key) {
        case .fresh(let response, _), .stale(let response, _): response
        case .miss: nil
        }
    }

    private mutating func check() async throws {
        let machine = clocks.indices.randomElement(using: &random) ?? 0
        let body = try await found(by: machine)?.body
        #expect(body == stored.map { [$0.version] }, "seed \(seed): an update was lost")
    }
}
