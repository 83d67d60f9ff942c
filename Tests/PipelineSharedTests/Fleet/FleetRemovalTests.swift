import FleetServers
import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineHTTP
@testable import PipelineShared
@testable import Stages

@Suite("What was removed while a machine didn't hear of it", .withRedis, .timeLimit(.minutes(5)))
struct FleetRemovalTests {
    private static let quick = RedisLimits(request: .milliseconds(50), connecting: .milliseconds(50))

    /// An origin whose pictures get another version when the test says so, and a link to Redis.
    private struct Site {
        let version = Lock(1)
        let fleet: FleetSite
        let relay: Relay

        init() throws {
            fleet = try FleetSite { [version] request in
                let tag = "\"\(version.withLock(\.self))\""
                let headers: HTTPFields = [.eTag: tag, .cacheControl: "max-age=600"]
                if request.headers[.ifNoneMatch] == tag { return .init(status: 304, headers: headers) }
                return .init(headers: headers, body: Picture.png(PixelSize(width: 64, height: 48)))
            }
            relay = try Relay(to: fleet.server)
        }

        var urls: [URL] { (0..<5).map { fleet.origin.url("/\($0).png") } }

        /// A machine behind the link that has heard of everything.
        func machine() async throws -> FleetMachine {
            let machine = fleet.machine(connecting: FleetRemovalTests.quick, over: relay.address)
            machine.fleet.join(machine.resources)
            #expect(try await machine.fleet.ready(within: .seconds(60)))
            return machine
        }
    }

    @Test("isn't served while it is cut off, nor afterwards, and nothing that it has is served unconfirmed meanwhile")
    func cutOff() async throws {
        let site = try Site()
        let (machine, other) = (try await site.machine(), site.fleet.machine())
        for url in site.urls { _ = try await machine.load(url) }
        #expect(try await machine.load(site.urls[0]).source == .memory)
        site.relay.setCut(true)
        for url in site.urls { #expect(await other.fleet.remove(url)) }
        site.version.withLock { $0 = 2 }
        await machine.events.until { $0.contains(where: \.isDeaf) }
        for url in site.urls { #expect(try await machine.load(url).source == .network) }
        for url in site.urls { #expect(try await machine.load(url).source == .revalidated) }
        site.relay.setCut(false)
        #expect(try await machine.fleet.ready(within: .seconds(60)))
        for url in site.urls { #expect(try await machine.load(url).source != .revalidated) }
        for url in site.urls { #expect(try await machine.load(url).source == .memory) }
        #expect(machine.events.warnings.count { $0.contains("doesn't hear what others remove") } == 1)
        withExtendedLifetime(site) {}
    }

    @Test("is served by a machine that was told so")
    func uncertain() async throws {
        let site = try Site()
        let events = EventRecorder()
        let fleet = Fleet(
            site.relay.address, connecting: Self.quick, mayServeUncertain: true, observers: [events],
            logger: events.logger)
        let machine = FleetMachine(
            site: site.fleet, fleet: fleet, resources: site.fleet.machine().resources, events: events)
        fleet.join(machine.resources)
        #expect(try await fleet.ready(within: .seconds(60)))
        _ = try await machine.load(site.urls[0])
        site.relay.setCut(true)
        await events.until { $0.contains(where: \.isDeaf) }
        #expect(try await machine.load(site.urls[0]).source == .memory)
        while !events.warnings.contains(where: { $0.contains("it may serve what was removed") }) { await Task.yield() }
        withExtendedLifetime(site) {}
    }

    @Test("isn't served by a process that starts on a disk, before it is ready or afterwards")
    func restarted() async throws {
        let site = try Site()
        let folder = NSTemporaryDirectory() + "pipeline-removals-\(UUID().uuidString.prefix(8))"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let events = EventRecorder()
        func process() -> FleetMachine {
            FleetMachine(
                site: site.fleet,
                fleet: Fleet(site.relay.address, connecting: Self.quick, observers: [events], logger: events.logger),
                resources: PipelineResources(
                    memory: MemoryCache(), responses: HTTPCache(folder: folder),
                    client: CurlClient(.local)), events: events)
        }
        let other = site.fleet.machine()
        other.fleet.join(other.resources)
        let (first, kept) = (process(), site.urls[1])
        first.fleet.join(first.resources)
        #expect(try await first.fleet.ready(within: .seconds(60)))
        for url in [site.urls[0], kept] { _ = try await first.load(url) }
        await first.fleet.shutdown()
        await first.resources.responses.close()
        #expect(await other.fleet.remove(site.urls[0]))
        site.version.withLock { $0 = 2 }
        // As if Redis had noted removals for a while before.
        let known = Int64((Date().timeIntervalSince1970 - 10) * 1e6)
        try site.fleet.server.send("HSET \(other.fleet.store.keys.noted) known \(known)")

        site.relay.setCut(true)
        let second = process()
        second.fleet.join(second.resources)
        #expect(try await !second.fleet.ready(within: .milliseconds(1)))
        #expect(try await second.load(site.urls[0]).source == .network)
        site.relay.setCut(false)
        #expect(try await second.fleet.ready(within: .seconds(60)))
        // It was there after everything that Redis has noted, so it is known not to be removed.
        #expect(try await second.load(kept).source == .disk)
        await second.fleet.shutdown()
        await second.resources.responses.close()
    }

    @Test(
        "and isn't noted any more is confirmed before it is served from the disk", arguments: ["log", "noted", "all"])
    func evicted(kind: String) async throws {
        let site = try Site()
        let machine = try await site.machine()
        let (url, keys) = (site.urls[0], machine.fleet.store.keys)
        _ = try await machine.load(url)
        // So that there is something in the log.
        #expect(await machine.fleet.remove(site.urls[1]))
        site.version.withLock { $0 = 2 }
        switch kind {
        case "log": try site.fleet.server.send("DEL \(keys.log)")
        case "noted": try site.fleet.server.send("DEL \(keys.noted)")
        default: try site.fleet.server.send("FLUSHALL")
        }
        try site.fleet.server.send("CLIENT KILL TYPE pubsub")
        await machine.events.until { $0.contains(.droppedMemory) && $0.count { $0 == .listening } == 2 }
        #expect(machine.resources.memory.count == 0)
        let again = try await machine.load(url)
        #expect(kind == "all" ? again.source == .network : again.source == .shared)
        #expect(try await machine.load(url).source == .memory)
        withExtendedLifetime(site) {}
    }

    @Test("is told if only the connection for messages is lost")
    func deaf() async throws {
        let site = try Site()
        let machine = try await site.machine()
        try site.fleet.server.send("CLIENT KILL TYPE pubsub")
        await machine.events.until { $0.count { $0 == .listening } == 2 }
        let events = machine.events.events.filter { $0 != .invalidated && !$0.isMeasurement }
        #expect(events == [.listening, .deaf("the server closed the connection"), .listening])
        withExtendedLifetime(site) {}
    }

    @Test("is told if the server allows no channels, and loads don't wait for messages that can't come")
    func forbidden() async throws {
        let site = try FleetSite()
        let address = try site.server.address(allowing: "~* +@all resetchannels")
        let machine = site.machine(over: address)
        machine.fleet.join(machine.resources)
        await machine.events.until {
            $0.contains { if case .deaf(let why) = $0 { why.contains("NOPERM") } else { false } }
        }
        #expect(try await !machine.fleet.ready(within: .zero))
        #expect(try await machine.load(site.origin.url("/a.png")).source == .network)
    }

    @Test("by tiers that join when the machine is connected already is caught up on by these")
    func joinedLater() async throws {
        let site = try Site()
        let (machine, other) = (try await site.machine(), try await site.machine())
        _ = try await other.load(site.urls[0])
        let late = other.resources
        await other.fleet.shutdown()
        #expect(await machine.fleet.remove(site.urls[0]))
        machine.fleet.join(late)
        #expect(try await machine.fleet.ready(within: .seconds(60)))
        #expect(late.memory.count == 0)
        #expect(!machine.events.events.contains { $0.isDeaf })
        withExtendedLifetime(site) {}
    }

    @Test("is nothing to the tiers of a fleet that is closed, whether they joined before or afterwards")
    func closed() async throws {
        let site = try Site()
        let machine = try await site.machine()
        _ = try await machine.load(site.urls[0])
        await machine.fleet.shutdown()
        #expect(try await machine.load(site.urls[0]).source == .memory)
        #expect(try await !machine.fleet.ready(within: .zero))
        let later = site.fleet.machine().resources
        machine.fleet.join(later)
        let loader = ImageLoader(later)
        _ = try await loader.load(site.urls[0])
        #expect(try await loader.load(site.urls[0]).source == .memory)
        #expect(!machine.events.events.contains { $0.isDeaf })
        withExtendedLifetime(site) {}
    }

    @Test("leaves memory at once, and no lookup finds it, while the disk is slow")
    func slowDisk() async throws {
        let site = try Site()
        let store = SlowStore()
        let resources = PipelineResources(
            memory: MemoryCache(), responses: HTTPCache(store: store), client: CurlClient(.local))
        let machine = FleetMachine(
            site: site.fleet, fleet: site.fleet.machine().fleet, resources: resources, events: EventRecorder())
        machine.fleet.join(resources)
        #expect(try await machine.fleet.ready(within: .seconds(60)))
        for url in site.urls { _ = try await machine.load(url) }
        let other = site.fleet.machine()
        for url in site.urls { #expect(await other.fleet.remove(url)) }
        site.version.withLock { $0 = 2 }
        while resources.memory.count > 0 { await Task.yield() }
        for url in site.urls { #expect(try await machine.load(url).source == .network) }
        // All are removed together.
        #expect(store.waiting.withLock(\.count) >= 1)
        store.open()
        await machine.fleet.shutdown()
        #expect(store.removed.withLock(\.count) >= site.urls.count)
    }

    @Test("by a URL or a tag while it is fetched isn't joined by later loads", arguments: ["url", "tag", "redirect"])
    func joining(kind: String) async throws {
        let gate = try ScriptedOrigin.Gate()
        let count = Lock(0)
        let picture = Picture.png(PixelSize(width: 64, height: 48))
        let site = try FleetSite { request in
            if request.path == "/moved.png" {
                return .init(status: 302, headers: [.location: "/cat.png", .cacheControl: "max-age=60"])
            }
            let reply = ScriptedOrigin.Reply(headers: [.cacheControl: "max-age=60"], body: picture)
            let isFirst = count.withLock {
                $0 += 1
                return $0 == 1
            }
            return isFirst ? reply.held(until: gate) : reply
        }
        let resources = site.machine().resources
        let loader = ImageLoader(resources)
        let (url, target) = (
            site.origin.url(kind == "redirect" ? "/moved.png" : "/cat.png"), site.origin.url("/cat.png")
        )
        async let first = loader.load(url)
        while count.withLock(\.self) == 0 { await Task.yield() }
        if kind == "tag" {
            await resources.responses.remove(tag: "sale")
        } else {
            await resources.responses.remove(url: target)
        }
        let running = resources.flights.count
        async let second = loader.load(url)
        while resources.flights.count == running { await Task.yield() }
        gate.open()
        _ = try await (first, second)
        #expect(count.withLock(\.self) == 2)
        #expect(resources.memory.count == 1)
    }
}

@Suite("The log of invalidations in Redis", .withRedis)
struct NotedInvalidationsTests {
    /// Makes targets invalid; the log keeps this many.
    private func invalidate(_ count: Int, keeping most: Int, in store: RedisStore) async throws -> [RedisValue] {
        var replies: [RedisValue] = []
        for number in 0..<count {
            let target = "http://example.com/\(number)"
            replies.append(
                try await store.scripts.run(
                    .invalidate,
                    keys: [
                        store.keys.counter, store.keys.epochs + store.keys.epoch(target), store.keys.log,
                        store.keys.noted, store.keys.taggedURLs + store.keys.epoch(target),
                    ],
                    [
                        Array(target.utf8), Array(store.keys.invalidations.utf8), RedisStore.digits(600_000),
                        RedisStore.digits(most), RedisStore.digits(86_400_000_000),
                        Array(store.keys.epochs.utf8),
                    ]))
        }
        return replies
    }

    private func missed(_ store: RedisStore, since number: Int64) async throws -> MissedInvalidations {
        let command = MissedInvalidations.command(store.keys, since: number, RedisScript.missed.source)
        return try #require(MissedInvalidations(try await store.scripts.connection.send(command)))
    }

    @Test("says since when it is complete, also once the oldest have left it")
    func trimmed() async throws {
        let site = try FleetSite()
        let machine = site.machine()
        let store = machine.fleet.store
        let first = try await missed(store, since: 0)
        #expect(first.targets.isEmpty && first.known > 0 && first.known <= first.until)
        let numbers = try await invalidate(5, keeping: 3, in: store).map { $0.array?.first?.integer }
        let second = try await missed(store, since: first.until)
        #expect(second.data == first.data)
        #expect(second.targets.map(\.number) == numbers.suffix(3))
        #expect(second.known == numbers[1])
        withExtendedLifetime(machine) {}
    }

    @Test("notes what becomes invalid in a full server too, and says so if it couldn't note one")
    func incomplete() async throws {
        let site = try FleetSite()
        let machine = site.machine()
        let store = machine.fleet.store
        let first = try await missed(store, since: 0)
        try site.server.send("CONFIG SET maxmemory 1")
        _ = try await invalidate(1, keeping: 3, in: store)
        let second = try await missed(store, since: first.until)
        #expect(second.targets.count == 1 && second.data == first.data && second.known == first.known)
        try site.server.send("CONFIG SET maxmemory 0")
        let address = try site.server.address(allowing: "~* &* +@all -zadd")
        let other = site.machine(over: address)
        _ = try await invalidate(1, keeping: 3, in: other.fleet.store)
        let third = try await missed(store, since: second.until)
        #expect(third.data != first.data && third.known > second.until)
        #expect(try await missed(store, since: third.until).data == third.data)
        withExtendedLifetime((machine, other)) {}
    }
}

/// A store that removes nothing before the test says so.
private final class SlowStore: ResponseStore {
    private let store = InMemoryResponseStore(byteLimit: 10_000_000)
    private let isOpen = Lock(false)
    let waiting = Lock<[Waiter<Void>]>([])
    let removed = Lock<[String]>([])

    func open() {
        isOpen.withLock { $0 = true }
        for waiter in waiting.withLock(\.self) { waiter.resume(with: .success(())) }
    }

    func invalidate(_ target: String, at time: Date) async -> Int {
        let waiter = Waiter<Void>()
        waiting.withLock { $0.append(waiter) }
        if isOpen.withLock(\.self) { waiter.resume(with: .success(())) }
        try? await waiter.value()
        removed.withLock { $0.append(target) }
        return await store.invalidate(target, at: time)
    }

    func find(
        _ key: SourceKey, priority: LoadPriority, choose: @escaping @Sendable ([StoredResponse]) -> StoredResponse?
    ) async throws -> StoreFinding { try await store.find(key, priority: priority, choose: choose) }

    func insert(
        _ response: StoredResponse, askedAt time: Date,
        replacing replace: @escaping @Sendable ([StoredResponse]) -> Set<Int64>?
    ) async -> StoreInsertion { await store.insert(response, askedAt: time, replacing: replace) }

    func update(_ response: StoredResponse, if isCurrent: @escaping @Sendable (StoredResponse) -> Bool) async -> Bool? {
        await store.update(response, if: isCurrent)
    }

    func remove(
        _ key: SourceKey, where isMeant: @escaping @Sendable (StoredResponse) -> Bool
    ) async -> [StoredResponse] { await store.remove(key, where: isMeant) }

    func removeAll(where isMeant: @escaping @Sendable (CacheEntry) -> Bool) async -> Int {
        await store.removeAll(where: isMeant)
    }

    func close() async { await store.close() }
}
