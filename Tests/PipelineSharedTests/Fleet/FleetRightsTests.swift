import FleetServers
import Foundation
import HTTPTypes
import Pipeline
import PipelineHTTP
import PipelineTesting
import Testing

@testable import PipelineShared
@testable import Stages

@Suite("The rights of a fleet's member in the page about fleets", .withRedis, .timeLimit(.minutes(5)))
struct FleetRightsTests {
    private let site: FleetSite
    private let admin: RedisConnection

    init() throws {
        site = try FleetSite([.eTag: "\"1\"", .cacheControl: "max-age=60"])
        admin = RedisConnection(
            Self.address(of: site.server), limits: RedisLimits(request: .seconds(10), connecting: .seconds(10)))
    }

    /// With a database other than 0, which needs a right too.
    private static func address(of server: RedisServer, user: String? = nil) -> RedisAddress {
        var address = server.address
        (address.database, address.user) = (1, user)
        address.password = user.map { _ in "secret" }
        return address
    }

    /// Does all that a member does.
    /// - Parameter limit: How long to wait for a reply, and for the messages.
    /// - Returns: What was refused, by the server's own record.
    private func refused(_ rights: [String], within limit: Duration) async throws -> [String] {
        _ = try await admin.send(AccessControlLines.command.split(separator: " ").map(String.init) + rights)
        let address = Self.address(of: site.server, user: "images")
        let (first, second) = (machine(address, limit), machine(address, limit))
        let keys = first.fleet.store.keys
        // So that a removal has an old one to forget.
        _ = try await admin.send("ZADD", keys.log, "1", "http://example.com/old")
        for machine in [first, second] {
            machine.fleet.join(machine.resources)
            _ = try await machine.fleet.ready(within: limit)
        }
        try await load(first, second)
        try await wait(first, second)
        try await change(first.fleet)
        _ = await first.fleet.remove(site.origin.url("/a.png"))
        _ = await first.fleet.remove(tag: "all")
        try? await first.fleet.cache.eachPage { _ in true }
        // The replies to what the connections for messages sent last.
        try await wait(first, second)
        for machine in [first, second] { await machine.fleet.shutdown() }
        let entries = try await admin.send("ACL", "LOG").array ?? []
        return entries.compactMap { $0.array?.compactMap(\.text).joined(separator: " ") }
    }

    private func machine(_ address: RedisAddress, _ limit: Duration) -> FleetMachine {
        site.machine(connecting: RedisLimits(request: limit, connecting: limit), over: address)
    }

    /// Loads, finds, makes results and finds them.
    private func load(_ first: FleetMachine, _ second: FleetMachine) async throws {
        let url = site.origin.url("/a.png")
        for (machine, tag) in [(first, "all"), (second, "late")] {
            _ = try await machine.loader.load(url, options: LoadOptions(tags: [tag]))
            let list = ImagePipeline.returnSharedElseLoad(machine.resources, machine.fleet, encoding: Encode(.png))
            _ = try await list.load(ImageRequest(url, maxPixelSize: PixelSize(width: 16, height: 16)))
        }
    }

    /// Holds a lease for which the other waits.
    private func wait(_ first: FleetMachine, _ second: FleetMachine) async throws {
        let turn = try await first.fleet.leases.turn("a", patience: .seconds(1)) { false }
        guard case .hold(let hold) = turn else { return }
        _ = try await second.fleet.leases.turn("a", patience: .seconds(1)) {
            await hold.end(isStored: false)
            return false
        }
    }

    /// Stores, replaces, confirms and removes responses, their results and failed attempts.
    private func change(_ fleet: Fleet) async throws {
        let key = SourceKey.test("a")
        guard let url = URL(string: "http://example.com/a.jpg") else { return }
        func exchange(_ body: String, status: Int = 200) -> HTTPExchange {
            HTTPExchange(
                url: url, requestHeaders: [:], status: status, headers: [.cacheControl: "max-age=60", .eTag: "\"1\""],
                requestTime: Date(), responseTime: Date(), body: Array(body.utf8))
        }
        _ = await fleet.cache.commit(exchange("first"), for: key)
        let stored = await fleet.cache.commit(exchange("second"), for: key)
        _ = await fleet.cache.recordFailure(status: 503, of: key)
        _ = try await fleet.cache.failures(of: key)
        await fleet.cache.forgetFailures(of: key)
        if let stored {
            _ = await fleet.cache.freshen(stored, by: exchange("", status: 304))
            let request = ImageRequest(url)
            let variant = VariantKey(source: key, request: request, list: BLAKE2bDigest(of: ""))
            let picture = Picture.png(PixelSize(width: 4, height: 4))
            await fleet.cache.keep(EncodedImage(bytes: picture), as: variant, of: stored.generation)
            _ = try await fleet.cache.variant(variant, of: stored.generation, priority: .normal)
        }
        _ = await fleet.cache.remove(key)
    }

    @Test("are enough for loads, waits, hits, results, tags, removals, catching up and lists")
    func enough() async throws {
        #expect(AccessControlLines.rights.count > 20)
        #expect(try await refused(AccessControlLines.member, within: .seconds(20)) == [])
        // It also shares.
        let address = Self.address(of: site.server, user: "images")
        let (first, second) = (machine(address, .seconds(20)), machine(address, .seconds(20)))
        first.fleet.join(first.resources)
        #expect(try await first.fleet.ready(within: .seconds(20)))
        #expect(try await first.load(site.origin.url("/b.png")).source == .network)
        #expect(try await second.load(site.origin.url("/b.png")).source == .shared)
        _ = try await admin.send("CLIENT", "KILL", "TYPE", "pubsub")
        await first.events.until { $0.count { $0 == .listening } == 2 }
        // It has heard of others before.
        let heard = first.events.events.count { $0 == .invalidated }
        #expect(await second.fleet.remove(site.origin.url("/b.png")))
        await first.events.until { $0.count { $0 == .invalidated } > heard }
        #expect(try await first.load(site.origin.url("/b.png")).source == .network)
        #expect(first.events.warnings.filter { $0.contains("refuses") } == [])
        #expect(try await admin.send("ACL", "LOG").array?.count == 0)
    }

    @Test("are each needed", arguments: AccessControlLines.rights)
    func needed(_ right: String) async throws {
        let rest = AccessControlLines.member.filter { $0 != right }
        #expect(rest.count == AccessControlLines.member.count - 1)
        #expect(try await refused(rest, within: .seconds(1)) != [], "\(right) is superfluous")
    }

    @Test("are what the doctor tries")
    func tried() async throws {
        _ = try await admin.send(
            AccessControlLines.command.split(separator: " ").map(String.init) + AccessControlLines.member)
        let fleet = machine(Self.address(of: site.server, user: "images"), .seconds(20)).fleet
        let (rights, messages) = (try await fleet.tryRights(), try await fleet.tryMessages())
        #expect(rights.isWell && messages.isWell, "\(rights.state); \(messages.state)")
    }
}

extension RedisConnection {
    fileprivate func send(_ arguments: [String]) async throws -> RedisValue {
        try await send(arguments.map { Array($0.utf8) })
    }
}
