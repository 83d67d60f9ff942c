import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import Testing

@Suite("Images used from memory count as used on disk")
struct MemoryUseTests {
    private let site: Site
    private let day = Duration.seconds(86_400)

    init() throws { site = try Site([.cacheControl: "max-age=9999999"]) }

    @Test("An image that was shown from memory is not removed as unused")
    func cleanUp() async throws {
        let resources = site.resources()
        let loader = ImageLoader(resources)
        for name in ["/shown", "/forgotten"] { _ = try await loader.load(site.origin.url(name)) }
        site.clock.advance(by: day * 2)
        #expect(try await loader.load(site.origin.url("/shown")).source == .memory)
        #expect(await resources.responses.cleanUp(.unused(day)) == 1)
        #expect(try await site.loader().load(site.origin.url("/shown")).source == .disk)
        #expect(try await site.loader().load(site.origin.url("/forgotten")).source == .network)
    }

    @Test("A use counts as of its own time, not as of when it is written down")
    func ownTime() async throws {
        let resources = site.resources()
        let loader = ImageLoader(resources)
        _ = try await loader.load(site.origin.url("/a"))
        site.clock.advance(by: .seconds(60))
        _ = try await loader.load(site.origin.url("/a"))
        site.clock.advance(by: day * 2)
        #expect(await resources.responses.cleanUp(.unused(day)) == 1)
    }

    @Test("An image that had to leave memory was used when it was used last")
    func evicted() async throws {
        var resources = site.resources()
        resources.memory = MemoryCache(countLimit: 1)
        let loader = ImageLoader(resources)
        for name in ["/other", "/shown"] { _ = try await loader.load(site.origin.url(name)) }
        site.clock.advance(by: day * 2)
        #expect(try await loader.load(site.origin.url("/shown")).source == .memory)
        // From disk, so that nothing is written between this use and the eviction.
        #expect(try await loader.load(site.origin.url("/other")).source == .disk)
        #expect(await resources.responses.cleanUp(.unused(day)) == 0)
    }

    @Test("The disk evicts what neither it nor memory has given for the longest time")
    func leastRecentlyUsed() async throws {
        let clock = site.clock
        let resources = PipelineResources(
            memory: MemoryCache(), responses: HTTPCache(folder: site.folder, entryLimit: 2, clock: clock),
            client: site.client)
        let loader = ImageLoader(resources)
        for name in ["/a", "/b"] {
            _ = try await loader.load(site.origin.url(name))
            clock.advance(by: .seconds(1))
        }
        #expect(try await loader.load(site.origin.url("/a")).source == .memory)
        clock.advance(by: .seconds(1))
        _ = try await loader.load(site.origin.url("/c"))
        let kept = Set(try await resources.responses.entries().map(\.key))
        #expect(try kept == Set(["/a", "/c"].map { try #require(SourceKey(ImageRequest(site.origin.url($0)))) }))
    }
}
