import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

/// BEHAVIOURS that belong to no one part: 5, 13, 18, and some of the last list.
@Suite("What every loader has to do")
struct BehavioursTests {
    private let site: Site

    init() throws { site = try Site() }

    @Test("Sources are told apart: memory, disk, network not-modified, network, and none")
    func sources() async throws {
        let url = site.origin.url("/a")
        let loader = site.loader(defaults: LoadOptions(policy: .useProtocol))
        #expect(try await loader.load(url).source == .network)
        #expect(try await loader.load(url).source == .memory)
        let restarted = site.loader(defaults: LoadOptions(policy: .useProtocol))
        #expect(try await restarted.load(url).source == .disk)
        site.clock.advance(by: .seconds(61))
        #expect(try await restarted.load(url).source == .revalidated)
        site.origin.script("/none", .init(status: 500))
        var completed: [LoadSource?] = []
        for await event in loader.task(for: site.origin.url("/none")).events {
            if case .requestCompleted(_, _, let source) = event { completed.append(source) }
        }
        #expect(completed == [nil])
    }

    @Test("Memory is not shared between loaders unless one cache is passed to both")
    func memoryOfLoaders() async throws {
        let url = site.origin.url("/a")
        let (first, second) = (site.loader(), site.loader())
        _ = try await first.load(url)
        #expect(try await second.load(url).source == .disk)
        let sharing = ImageLoader(first.resources)
        #expect(try await sharing.load(url).source == .memory)
    }

    @Test("Memory limits by count and by cost, the time-out and the policy are settable")
    func settings() async throws {
        var resources = site.resources()
        resources.memory = MemoryCache(byteLimit: 1_000_000, countLimit: 2)
        let gate = try ScriptedOrigin.Gate()
        site.origin.route("/slow") { _ in ScriptedOrigin.Reply().held(until: gate) }
        var options = CurlClient.Options.local
        options.totalTimeout = .milliseconds(100)
        resources.client = CurlClient(options)
        let loader = ImageLoader(resources, defaults: LoadOptions(policy: .ignoreCache()))
        for path in ["/a", "/b", "/c", "/a"] {
            #expect(try await loader.load(site.origin.url(path)).source == .network)
        }
        #expect(resources.memory.count == 2)
        let error = await #expect(throws: LoadError.self) { try await loader.load(site.origin.url("/slow")) }
        #expect(error?.code == .timedOut)
    }

    @Test("A thumbnail is never stored under the original's key, nor the reverse, whatever was asked for first")
    func thumbnails() async throws {
        let url = site.origin.url("/a")
        let loader = site.loader()
        let prefetcher = Prefetcher(loader, options: LoadOptions(maxPixelSize: 16))
        prefetcher.start([url])
        for await _ in prefetcher.progress {}
        #expect(try await loader.load(url, options: LoadOptions(maxPixelSize: nil)).image.width == 160)
        #expect(try await loader.load(url, options: LoadOptions(maxPixelSize: 16)).image.width == 16)
        let restarted = site.loader()
        #expect(try await restarted.load(url, options: LoadOptions(maxPixelSize: nil)).image.width == 160)
        #expect(try await restarted.load(url, options: LoadOptions(maxPixelSize: 16)).image.width == 16)
        #expect(site.requests == 1)
    }

    @Test("Why was this a miss? The trace says so for each load, stage by stage")
    func whyAMiss() async throws {
        let url = site.origin.url("/a")
        _ = try await site.loader().load(url)
        site.clock.advance(by: .seconds(61))
        let trace = try await site.loader().load(url).trace
        let lookups = trace.entries.filter { $0.stage.hasSuffix("Lookup") }
        #expect(lookups.allSatisfy { $0.outcome == .miss && $0.key != nil })
        #expect(lookups.last?.note?.isEmpty == false)
    }
}
