import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import Testing

@testable import PipelineImages

/// BEHAVIOURS 22.
@Suite("returnCacheDontLoad")
struct ReturnCacheDontLoadTests {
    private let site: Site

    init() throws { site = try Site() }

    @Test("ends a miss with notCached, which says where it looked and what to do, and asks no origin")
    func miss() async throws {
        let pipeline = ImagePipeline.returnCacheDontLoad(site.resources())
        let error = await #expect(throws: LoadError.self) {
            try await pipeline.load(ImageRequest(site.origin.url("/a")))
        }
        #expect(error?.code == .notCached)
        #expect(
            error?.message
                == "No image: ResolveIdentifier done, MemoryLookup miss, Lookup miss. This pipeline has no stage that "
                + "fetches it; use returnCacheElseLoad to allow downloads.")
        #expect(site.requests == 0)
    }

    @Test("gives what is in memory, and what is on disk, after the delay")
    func hits() async throws {
        let request = ImageRequest(site.origin.url("/a"))
        let resources = site.resources()
        _ = try await ImagePipeline.returnCacheElseLoad(resources).load(request)
        // Nobody moves the clock for the first: memory is never delayed.
        let delayed = ImagePipeline.returnCacheDontLoad(resources, delay: .seconds(5))
        #expect(try await delayed.load(request).source == .memory)
        async let response = ImagePipeline.returnCacheDontLoad(site.resources(), delay: .seconds(5)).load(request)
        try await site.clock.sleepers(1)
        site.clock.advance(by: .seconds(5))
        #expect(try await response.source == .disk)
        #expect(site.requests == 1)
    }

    @Test("is what returnCacheElseLoad becomes without its Fetch")
    func withoutFetch() async throws {
        let request = ImageRequest(site.origin.url("/a"))
        _ = try await ImagePipeline.returnCacheElseLoad(site.resources()).load(request)
        let offline = ImagePipeline.returnCacheElseLoad(site.resources()).removing(Fetch.self)
        #expect(try await offline.load(request).source == .disk)
        let error = await #expect(throws: LoadError.self) {
            try await offline.load(ImageRequest(site.origin.url("/b")))
        }
        #expect(error?.code == .notCached)
        #expect(site.requests == 1)
    }

    @Test("takes what is past its freshness for a miss, in memory and on disk")
    func expired() async throws {
        let request = ImageRequest(site.origin.url("/a"))
        let resources = site.resources()
        _ = try await ImagePipeline.returnCacheElseLoad(resources).load(request)
        site.clock.advance(by: .seconds(61))
        let error = await #expect(throws: LoadError.self) {
            try await ImagePipeline.returnCacheDontLoad(resources).load(request)
        }
        #expect(error?.code == .notCached)
        #expect(error?.trace.entries.contains { $0.note?.hasPrefix("expired 1 s ago") == true } == true)
    }
}

/// BEHAVIOURS 23.
@Suite("ignoreCache and useProtocol")
struct IgnoreCacheTests {
    private let site: Site

    init() throws { site = try Site() }

    @Test("ignoreCache reads no cache, fetches once without conditions, and writes both caches")
    func ignoreCache() async throws {
        let request = ImageRequest(site.origin.url("/a"))
        let resources = site.resources()
        _ = try await ImagePipeline.returnCacheElseLoad(resources).load(request)
        #expect(try await ImagePipeline.ignoreCache(resources).load(request).source == .network)
        #expect(site.origin.log.requests.last?.headers[.ifNoneMatch] == nil)
        #expect(site.requests == 2)

        let fresh = site.resources()
        let other = ImageRequest(site.origin.url("/b"))
        #expect(try await ImagePipeline.ignoreCache(fresh).load(other).source == .network)
        #expect(try await ImagePipeline.returnCacheDontLoad(fresh).load(other).source == .memory)
        #expect(try await ImagePipeline.returnCacheDontLoad(site.resources()).load(other).source == .disk)
    }

    @Test("ignoreCache waits for its delay")
    func delay() async throws {
        let pipeline = ImagePipeline.ignoreCache(site.resources(), delay: .seconds(5))
        let request = ImageRequest(site.origin.url("/a"))
        async let response = pipeline.load(request)
        try await site.clock.sleepers(1)
        #expect(site.requests == 0)
        site.clock.advance(by: .seconds(5))
        #expect(try await response.source == .network)
    }

    @Test("useProtocol goes by the server's word, whatever expireAfter says")
    func useProtocol() async throws {
        var request = ImageRequest(site.origin.url("/a"))
        request.expiry = .after(.seconds(3600))
        let resources = site.resources()
        let (byRequest, byServer) = (
            ImagePipeline.returnCacheElseLoad(resources), ImagePipeline.useProtocol(resources)
        )
        _ = try await byRequest.load(request)
        site.clock.advance(by: .seconds(61))
        #expect(try await byRequest.load(request).source == .memory)
        #expect(try await byServer.load(request).source == .revalidated)
        #expect(try await ImagePipeline.useProtocol(site.resources()).load(request).source == .disk)
    }
}

@Suite("The resources' memory budget")
struct PolicyBudgetTests {
    /// Blurs with memory that it claims.
    private struct Hungry: Stage {
        let accepts: Phases = .empty
        let budget: MemoryBudget
        let began: @Sendable () async -> Void
        func run(_ load: inout Load) async throws -> Outcome {
            try await budget.run(holding: 80, priority: load.priority) { await began() }
            throw LoadError(.refused, subject: load.subject, "Over.")
        }
    }

    @Test(
        "is the one that the decode of each policy claims from",
        arguments: [CachePolicy.standard, .useProtocol, .ignoreCache(), .returnCacheDontLoad(), .offline])
    func budget(policy: CachePolicy) async throws {
        let site = try Site()
        let request = ImageRequest(site.origin.url("/a"))
        _ = try await ImagePipeline.storeOnDisk(site.resources()).load(request)
        var resources = site.resources()
        resources.budget = MemoryBudget(bytes: 1000)
        var claim: MemoryClaim? = try await resources.budget.claimed(1000, priority: .normal)
        let pipeline = policy.pipeline(resources)
        let isOver = Lock(false)
        let load = Task {
            defer { isOver.withLock { $0 = true } }
            return try await pipeline.load(request)
        }
        while resources.budget.waiting == 0, !isOver.withLock(\.self) { await Task.yield() }
        #expect(claim != nil && !isOver.withLock { $0 }, "The decode took memory from another budget.")
        claim = nil
        #expect(try await load.value.image?.width == 160)
    }

    @Test("is the one that a stage of one's own claims from, and a cancelled one holds nothing")
    func ownStage() async throws {
        var resources = PipelineResources(
            memory: MemoryCache(), responses: HTTPCache(inMemory: 1000), client: CurlClient())
        resources.budget = MemoryBudget(bytes: 100)
        let budget = resources.budget
        let loader = try ImageLoader(resources) { _, _ in
            ImagePipeline {
                Hungry(budget: budget) { #expect(!budget.claimNow(21, priority: .normal)) }
            }
        }
        #expect(budget.claimNow(30, priority: .normal))
        let task = Task { try await loader.load(.bytes([1])) }
        while budget.waiting == 0 { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        budget.release(30)
        await #expect(throws: LoadError.self) { try await loader.load(.bytes([1])) }
        #expect(budget.claimNow(100, priority: .normal))
        budget.release(100)
    }
}
