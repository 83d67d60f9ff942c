import FleetServers
import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Testing

@testable import PipelineShared
@testable import Stages

@Suite("A fleet over TLS", .withEncryptedRedis, .timeLimit(.minutes(5)))
struct FleetTLSTests {
    private let redis: EncryptedRedis

    init() throws { redis = try EncryptedRedis(try Certificates(), wantsClients: true) }

    private var address: RedisAddress {
        var address = redis.address
        address.tls?.certificate = redis.certificates.certificate("client")
        address.tls?.key = redis.certificates.key("client")
        return address
    }

    @Test("shares loads, also of a megabyte, and removals are heard by every machine")
    func sharing() async throws {
        let large = Picture.png(PixelSize(width: 600, height: 600))
        #expect(large.count > 1_000_000)
        let site = try FleetSite(over: redis.server) { request in
            request.path == "/large.png" ? .init(headers: [.cacheControl: "max-age=60"], body: large) : nil
        }
        let limits = FleetLimits(bytes: 2_000_000)
        let machines = (0..<2).map { _ in site.machine(limits: limits, over: address) }
        for machine in machines {
            machine.fleet.join(machine.resources)
            #expect(try await machine.fleet.ready(within: .seconds(60)))
        }
        for path in ["/a.png", "/large.png"] {
            let url = site.origin.url(path)
            #expect(try await machines[0].load(url).source == .network)
            #expect(try await machines[1].load(url).source == .shared)
            #expect(await machines[0].fleet.remove(url))
            await machines[1].events.until { $0.contains(.invalidated) }
        }
        #expect(site.requests == 2)
        #expect(machines.allSatisfy { $0.events.warnings.isEmpty })
    }

    @Test("fails no load while its connections are ended again and again, and shares afterwards")
    func ended() async throws {
        let site = try FleetSite(over: redis.server)
        let machines = (0..<2).map { _ in site.machine(over: address) }
        for machine in machines { machine.fleet.join(machine.resources) }
        for number in 0..<20 {
            try await withThrowingTaskGroup { group in
                for index in 0..<4 {
                    group.addTask { try await machines[index % 2].load(site.origin.url("/\(number)-\(index).png")) }
                }
                for kind in ["normal", "pubsub"] { _ = try? redis.server.send("CLIENT KILL TYPE \(kind)") }
                try await group.waitForAll()
            }
        }
        for machine in machines { #expect(try await machine.fleet.ready(within: .seconds(60))) }
        let last = site.origin.url("/last.png")
        while try await machines[0].entries() == nil {}
        #expect(try await machines[0].load(last).source == .network)
        #expect(try await machines[1].load(last).source == .shared)
    }

    @Test("whose certificate is refused loads from the origin, and says once what to do")
    func refused() async throws {
        let site = try FleetSite(over: redis.server)
        var address = address
        address.tls?.authorities = redis.certificates.certificate("stranger")
        let machine = site.machine(over: address)
        for name in ["a", "b", "c"] {
            #expect(try await machine.load(site.origin.url("/\(name).png")).source == .network)
        }
        let why = "its certificate is from an authority that isn't trusted."
        await machine.events.until {
            $0.contains { if case .lost(let text) = $0 { text.hasPrefix(why) } else { false } }
        }
        #expect(machine.events.warnings.count { $0.contains(why) && $0.contains("?ca=PATH. Loads") } == 1)
    }
}
