import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

@Suite("Offline, expired images are given as stale")
struct OfflineTests {
    private let site: Site

    init() throws { site = try Site() }

    /// What a program has whose image expired 980 s ago.
    private func expired() async throws -> PipelineResources {
        let resources = site.resources()
        _ = try await ImagePipeline.returnCacheElseLoad(resources).load(ImageRequest(site.origin.url("/a")))
        site.clock.advance(by: .seconds(60 + 980))
        return resources
    }

    @Test("From memory and from disk, and no origin is asked")
    func stale() async throws {
        let request = ImageRequest(site.origin.url("/a"))
        let memory = try await ImagePipeline.offline(expired()).load(request)
        #expect(memory.source == .memory)
        #expect(memory.isStale)
        let disk = ImagePipeline.offline(site.resources())
        let response = try await disk.load(request)
        #expect(response.source == .disk)
        #expect(response.isStale)
        #expect(response.image?.width == 160)
        // It is in memory now, as stale as it was.
        #expect(try await disk.load(request).source == .memory)
        #expect(try await disk.load(request).isStale)
        #expect(site.requests == 1)
    }

    @Test("What is fresh is not stale, and what is nowhere is not cached")
    func others() async throws {
        let resources = site.resources()
        let offline = ImagePipeline.offline(resources)
        let request = ImageRequest(site.origin.url("/a"))
        let error = await #expect(throws: LoadError.self) { try await offline.load(request) }
        #expect(error?.code == .notCached)
        _ = try await ImagePipeline.returnCacheElseLoad(resources).load(request)
        for resources in [resources, site.resources()] {
            #expect(try await !ImagePipeline.offline(resources).load(request).isStale)
        }
    }

    @Test("Also an image that the server wants to be confirmed each time, and one behind a redirect that has expired")
    func forbidden() async throws {
        let picture = try Pictures.bytes("good/webp-lossy.webp")
        site.origin.route("/no-cache") { _ in
            .init(headers: [.cacheControl: "no-cache, must-revalidate", .eTag: "\"1\""], body: picture)
        }
        site.origin.route("/moved") { _ in
            .init(status: 301, headers: [.location: "/no-cache", .cacheControl: "max-age=60"])
        }
        let url = site.origin.url("/moved")
        _ = try await site.loader().load(url)
        site.clock.advance(by: .seconds(100))
        #expect(try await site.loader().load(url, options: LoadOptions(policy: .offline)).isStale)
        #expect(site.requests == 2)
    }

    @Test("returnCacheDontLoad says that an expired image is there, and what accepts it")
    func notCached() async throws {
        let resources = try await expired()
        let request = ImageRequest(site.origin.url("/a"))
        for resources in [resources, site.resources()] {
            let error = await #expect(throws: LoadError.self) {
                try await ImagePipeline.returnCacheDontLoad(resources).load(request)
            }
            #expect(error?.code == .notCached)
            #expect(
                error?.message.hasSuffix(
                    "The image on disk expired 980 s ago; use offline to accept it, or returnCacheElseLoad to have it "
                        + "confirmed.") == true, "\(error?.message ?? "")")
        }
        await resources.responses.removeAll()
        let memory = await #expect(throws: LoadError.self) {
            try await ImagePipeline.returnCacheDontLoad(resources).load(request)
        }
        #expect(memory?.message.contains("The image in memory expired 980 s ago") == true)
        #expect(memory?.trace.entries(of: MemoryLookup.self).first?.fact == .expired(for: .seconds(980)))
    }
}
