import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

/// BEHAVIOURS 21.
@Suite("returnCacheElseLoad", .inEachStore)
struct ReturnCacheElseLoadTests {
    private let site: Site

    init() throws { site = try Site() }

    @Test("asks the network once, then memory; a restarted program finds it on disk")
    func tiers() async throws {
        let resources = site.resources()
        let request = ImageRequest(site.origin.url("/a"), maxPixelSize: 80)
        let pipeline = ImagePipeline.returnCacheElseLoad(resources)
        #expect(try await pipeline.load(request).source == .network)
        #expect(try await pipeline.load(request).source == .memory)
        let anew = ImagePipeline.returnCacheElseLoad(site.resources())
        let response = try await anew.load(request)
        #expect(response.source == .disk)
        #expect(response.size == PixelSize(width: 80, height: 60))
        #expect(site.requests == 1)
    }

    @Test("never delays a memory hit")
    func memoryIsNotDelayed() async throws {
        let resources = site.resources()
        let request = ImageRequest(site.origin.url("/a"))
        _ = try await ImagePipeline.returnCacheElseLoad(resources).load(request)
        // Nobody moves the clock: a load that waited would never end.
        let delayed = ImagePipeline.returnCacheElseLoad(
            resources, cacheDelay: .seconds(3600), downloadDelay: .seconds(3600))
        #expect(try await delayed.load(request).source == .memory)
    }

    @Test("waits for the cache delay before it looks at the disk, and not for the download delay on a hit")
    func cacheDelay() async throws {
        let request = ImageRequest(site.origin.url("/a"))
        _ = try await ImagePipeline.returnCacheElseLoad(site.resources()).load(request)
        let delayed = ImagePipeline.returnCacheElseLoad(
            site.resources(), cacheDelay: .seconds(5), downloadDelay: .seconds(3600))
        async let response = delayed.load(request)
        try await site.clock.sleepers(1)
        site.clock.advance(by: .seconds(5))
        #expect(try await response.source == .disk)
    }

    @Test("looks a second time after the download delay, since another load may have stored the image meanwhile")
    func secondLookup() async throws {
        let request = ImageRequest(site.origin.url("/a"))
        let resources = site.resources()
        let delayed = ImagePipeline.returnCacheElseLoad(resources, downloadDelay: .seconds(5))
        async let waiting = delayed.load(request)
        try await site.clock.sleepers(1)
        _ = try await ImagePipeline.returnCacheElseLoad(resources).load(request)
        site.clock.advance(by: .seconds(5))
        #expect(try await waiting.source == .memory)
        #expect(site.requests == 1)

        // The same, where the other load was another program's: only the disk is shared.
        let other = ImageRequest(site.origin.url("/b"))
        async let waitingForDisk = delayed.load(other)
        try await site.clock.sleepers(1)
        _ = try await ImagePipeline.returnCacheElseLoad(site.resources()).load(other)
        site.clock.advance(by: .seconds(5))
        #expect(try await waitingForDisk.source == .disk)
        #expect(site.requests == 2)
    }

    @Test("asks the network after the download delay if still nothing is there")
    func downloadDelay() async throws {
        let delayed = ImagePipeline.returnCacheElseLoad(site.resources(), downloadDelay: .seconds(5))
        let request = ImageRequest(site.origin.url("/a"))
        async let response = delayed.load(request)
        try await site.clock.sleepers(1)
        #expect(site.requests == 0)
        site.clock.advance(by: .seconds(5))
        #expect(try await response.source == .network)
    }

    @Test("takes a stored response that is not an image for a miss, and replaces it")
    func replacesUndecodable() async throws {
        let resources = site.resources()
        let url = site.origin.url("/a")
        let request = ImageRequest(url)
        let key = try #require(SourceKey(request))
        let exchange = HTTPExchange(
            url: url, status: 200, headers: [.cacheControl: "max-age=60"], requestTime: site.clock.now,
            responseTime: site.clock.now, body: Array("<!DOCTYPE html>".utf8))
        #expect(await resources.responses.commit(exchange, for: key) != nil)

        let pipeline = ImagePipeline.returnCacheElseLoad(resources)
        let response = try await pipeline.load(request)
        #expect(response.source == .network)
        #expect(response.trace.entries(of: Decode.self).contains { $0.outcome == .failed })
        #expect(try await ImagePipeline.returnCacheElseLoad(site.resources()).load(request).source == .disk)
        #expect(site.requests == 1)
    }

    @Test("revalidates what is past its freshness, and a 304 makes it fresh again")
    func revalidates() async throws {
        let pipeline = ImagePipeline.returnCacheElseLoad(site.resources())
        let request = ImageRequest(site.origin.url("/a"))
        _ = try await pipeline.load(request)
        site.clock.advance(by: .seconds(61))
        #expect(try await pipeline.load(request).source == .revalidated)
        #expect(site.origin.log.requests.last?.headers[.ifNoneMatch] == "\"1\"")
        site.clock.advance(by: .seconds(59))
        #expect(try await pipeline.load(request).source == .memory)
        #expect(try await ImagePipeline.returnCacheElseLoad(site.resources()).load(request).source == .disk)
        #expect(site.requests == 2)
    }

    @Test("never keeps bytes that don't decode")
    func undecodableIsNotKept() async throws {
        site.origin.route("/page") { _ in .init(headers: [.cacheControl: "max-age=60"], body: "<!DOCTYPE html>") }
        let resources = site.resources()
        let pipeline = ImagePipeline.returnCacheElseLoad(resources)
        let request = ImageRequest(site.origin.url("/page"))
        for _ in 0..<2 {
            let error = await #expect(throws: LoadError.self) { try await pipeline.load(request) }
            #expect(error?.code == .undecodable)
            #expect(error?.stage == "Decode")
        }
        #expect(site.requests == 2)
        #expect(resources.memory.count == 0)
        let key = try #require(SourceKey(request))
        guard case .miss = try await resources.responses.lookup(key) else {
            Issue.record("The page was stored.")
            return
        }
    }
}
