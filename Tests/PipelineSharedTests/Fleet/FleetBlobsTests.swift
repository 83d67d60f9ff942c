import FleetServers
import Foundation
import HTTPTypes
import Pipeline
import PipelineHTTP
import PipelineTesting
import Testing

@testable import PipelineShared
@testable import Stages

@Suite("Machines that share large responses", .withRedis, .withS3, .timeLimit(.minutes(5)))
struct FleetBlobsTests {
    /// Less than the picture of the site has.
    private static let limits = FleetLimits(bytes: 1000)

    @Test("find them in S3 by what Redis knows of them, and need one request in all")
    func sharing() async throws {
        let (site, server) = (try FleetSite(), try await S3Server(.moto))
        let url = site.origin.url("/cat.png")
        for source in [LoadSource.network, .shared, .shared] {
            let machine = site.machine(limits: Self.limits, blobs: try server.blobs())
            #expect(try await machine.load(url).source == source)
        }
        #expect(site.requests == 1)
        #expect(try await server.names().count == 1)
        // Redis holds a reference alone.
        let machine = site.machine()
        let key = try #require(SourceKey(ImageRequest(url)))
        let fields = try await machine.fleet.store.scripts.connection.send("HVALS", machine.fleet.store.keys.entry(key))
        #expect(fields.array?.allSatisfy { ($0.bytes?.count ?? 0) < 1000 } == true)
    }

    @Test("revalidate them without sending them again")
    func confirming() async throws {
        let site = try FleetSite([.eTag: "\"1\"", .cacheControl: "max-age=0"])
        let server = try await S3Server(.moto)
        for _ in 0..<2 {
            let machine = site.machine(limits: Self.limits, blobs: try server.blobs())
            _ = try await machine.load(site.origin.url("/cat.png"))
        }
        #expect(site.origin.log.requests.map { $0.headers[.ifNoneMatch] } == [nil, "\"1\""])
    }

    @Test("fetch one again whose object is gone or damaged, and share it again", arguments: [nil, Array("other".utf8)])
    func missing(_ damaged: [UInt8]?) async throws {
        let (site, server) = (try FleetSite(), try await S3Server(.moto))
        let url = site.origin.url("/cat.png")
        func source() async throws -> LoadSource {
            try await site.machine(limits: Self.limits, blobs: try server.blobs()).load(url).source
        }
        #expect(try await source() == .network)
        let name = try #require(try await server.names().first)
        if let damaged {
            try await server.send(.put, "fleet/\(name)", body: damaged)
        } else {
            try await server.send(.delete, "fleet/\(name)")
        }
        #expect(try await source() == .network)
        #expect(try await source() == .shared)
        #expect(site.requests == 2)
    }

    @Test("share them no more while S3 fails, warn once, and share what Redis holds")
    func outage() async throws {
        let (site, server) = (try FleetSite(), try await S3Server(.rclone))
        server.kill()
        let machine = site.machine(limits: Self.limits, blobs: try server.blobs())
        for number in 0..<5 {
            #expect(try await machine.load(site.origin.url("/\(number).png")).source == .network)
        }
        #expect(machine.events.warnings.count == 1)
        #expect(machine.events.warnings.allSatisfy { $0.contains("s3://images/fleet") })
        #expect(machine.events.events.contains { if case .blobsLost = $0 { true } else { false } })
        #expect(!machine.events.events.contains(.commitRefused))
        _ = try await site.machine().load(site.origin.url("/small.png"))
        #expect(try await machine.load(site.origin.url("/small.png")).source == .shared)
    }

    @Test("fetch them again where the bucket may not be read, and warn once")
    func unreadable() async throws {
        let site = try FleetSite()
        let store = try ScriptedOrigin { request in
            request.method == "GET"
                ? .init(status: 403, body: "<Error><Code>AccessDenied</Code></Error>") : .init(status: 200)
        }
        let bucket = try S3Bucket("s3://images/fleet?endpoint=http://127.0.0.1:\(store.port)", environment: [:])
        let blobs = S3Blobs(bucket) { S3Server.credentials }
        _ = try await site.machine(limits: Self.limits, blobs: blobs).load(site.origin.url("/cat.png"))
        _ = try await site.machine(limits: Self.limits, blobs: blobs).load(site.origin.url("/dog.png"))
        let machine = site.machine(limits: Self.limits, blobs: blobs)
        for name in ["cat", "dog"] {
            #expect(try await machine.load(site.origin.url("/\(name).png")).source == .network)
        }
        #expect(machine.events.events.contains { if case .blobsRefused = $0 { true } else { false } })
        #expect(machine.events.warnings.count == 1)
        #expect(machine.events.warnings.allSatisfy { $0.contains("s3://images/fleet") && $0.contains("s3:GetObject") })
    }

    @Test("share large results as well")
    func results() async throws {
        let (site, server) = (try FleetSite(), try await S3Server(.moto))
        func load() async throws -> [UInt8] {
            let machine = site.machine(limits: FleetLimits(bytes: 64), blobs: try server.blobs())
            let pipeline = ImagePipeline.returnSharedElseLoad(
                machine.resources, machine.fleet, encoding: Encode(.png))
            let response = try await pipeline.load(
                ImageRequest(site.origin.url("/cat.png"), maxPixelSize: PixelSize(width: 40, height: 40)))
            guard case .bytes(let file) = response.product else { throw Unexpected() }
            return file.bytes
        }
        let first = try await load()
        #expect(first.count > 64)
        #expect(try await server.names().count == 2)
        #expect(try await load() == first)
    }

    @Test("without the bucket miss them, and leave them to the others")
    func without() async throws {
        let (site, server) = (try FleetSite(), try await S3Server(.moto))
        let url = site.origin.url("/cat.png")
        _ = try await site.machine(limits: Self.limits, blobs: try server.blobs()).load(url)
        #expect(try await site.machine(limits: Self.limits).load(url).source == .network)
        #expect(try await site.machine(limits: Self.limits, blobs: try server.blobs()).load(url).source == .shared)
    }
}
