import FiveLoaders
import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import Testing

@Suite("Rows of a loader whose parts are closures", .timeLimit(.minutes(5)))
struct InjectedPartsRows {
    private struct Down: Error {}

    private let site: LoaderSite
    private let hour = Duration.seconds(3600)

    init() throws { site = try LoaderSite() }

    /// A loader that keeps images in memory alone.
    private func loader(_ memory: MemoryCache = MemoryCache(), _ client: (any TransferClient)? = nil) -> ImageLoader {
        ImageLoader(
            site.resources(memory: memory, responses: HTTPCache(inMemory: 0, clock: site.clock), client: client),
            defaults: LoadOptions(expiry: .never))
    }

    @Test("A closure loads the bytes of a URL")
    func load() async throws {
        let picture = site.picture
        let loader = loader(MemoryCache(), ClosureClient { _ in picture })
        #expect(try await loader.load(site.url("/a")).image.width == 160)
        #expect(site.requests == 0)
    }

    @Test("Closures read and write a cache")
    func cache() async throws {
        let (shelf, picture) = (Shelf(), site.picture)
        let pipeline = loaderOfClosures(shelf: shelf) { _ in picture }
        for _ in 0..<2 { _ = try await pipeline.load(ImageRequest(site.url("/a"))) }
        #expect(await shelf.hits == 1)
    }

    @Test("A closure decodes")
    func decode() async throws {
        let resources = site.resources()
        let pipeline = ImagePipeline {
            ResolveIdentifier()
            Fetch(resources.client)
            ClosureStage("OwnDecode", accepts: .original, produces: .decoded, signature: "own 1") { load in
                load.advance(to: .decoded(.filled(7)))
                return .done
            }
        }
        #expect(try await pipeline.load(ImageRequest(site.url("/a"))).image?.width == 7)
    }

    @Test("Of more than 100 entries the least recently used goes")
    func leastRecentlyUsed() async throws {
        let memory = MemoryCache(countLimit: 100)
        let loader = loader(memory)
        for number in 0..<100 { _ = try await loader.load(site.url("/\(number)")) }
        #expect(try await loader.load(site.url("/0")).source == .memory)
        _ = try await loader.load(site.url("/new"))
        #expect(memory.count == 100)
        #expect(try await loader.load(site.url("/0")).source == .memory)
        #expect(try await loader.load(site.url("/1")).source == .network)
    }

    @Test("An entry expires 12 hours after it was last read")
    func slidingExpiry() async throws {
        let loader = loader(MemoryCache(idleLimit: hour * 12))
        _ = try await loader.load(site.url("/a"))
        for _ in 0..<2 {
            site.clock.advance(by: hour * 11)
            #expect(try await loader.load(site.url("/a")).source == .memory)
        }
        site.clock.advance(by: hour * 12 + .seconds(1))
        #expect(try await loader.load(site.url("/a")).source == .network)
    }

    @Test("What has expired is removed by reading it, and all of it at once by a reset")
    func stale() async throws {
        let memory = MemoryCache(idleLimit: hour)
        let loader = loader(memory)
        for path in ["/a", "/b"] { _ = try await loader.load(site.url(path)) }
        site.clock.advance(by: hour)
        _ = await code {
            _ = try await loader.load(site.url("/a"), options: LoadOptions(policy: .returnCacheDontLoad()))
        }
        #expect(memory.count == 1)
        memory.reset(staleOnly: true, now: site.clock.now)
        #expect(memory.count == 0)
    }

    @Test("Memory alone works, without any folder")
    func memoryAlone() async throws {
        let loader = loader()
        #expect(try await loader.load(site.url("/a")).source == .network)
        #expect(try await loader.load(site.url("/a")).source == .memory)
        #expect(!FileManager.default.fileExists(atPath: site.folder.path))
    }

    @Test("500 loads of 5 images at once ask 5 times")
    func concurrent() async throws {
        let loader = loader()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<500 {
                group.addTask { [site] in _ = try await loader.load(site.url("/\(number % 5)")) }
            }
            try await group.waitForAll()
        }
        #expect(site.requests == 5)
    }

    @Test("An error of the closure's is told from data that isn't an image")
    func errors() async throws {
        let down = loader(MemoryCache(), ClosureClient { _ in throw Down() })
        let error = await #expect(throws: LoadError.self) { try await down.load(site.url("/a")) }
        #expect(error?.code == .unreachable)
        #expect(error?.underlying is Down)
        let text = loader(MemoryCache(), ClosureClient { _ in Array("no image".utf8) })
        #expect(await code { _ = try await text.load(site.url("/a")) } == .undecodable)
    }

    @Test("A view sees the phases of its image")
    @MainActor
    func phases() async {
        let state = ImageState(.url(site.url("/held")), loader: loader())
        guard case .empty = state.state else { return #expect(Bool(false)) }
        state.shown()
        guard case .inProgress = state.state else { return #expect(Bool(false)) }
        site.gate.open()
        while case .inProgress = state.state { await Task.yield() }
        guard case .success(let response) = state.state else { return #expect(Bool(false)) }
        #expect(response.image.width == 160)
    }
}
