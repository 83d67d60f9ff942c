import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

@Suite("Images in memory whose responses are not on disk")
struct CustomSourceTests {
    private let site: Site

    init() throws { site = try Site() }

    @Test(
        "What a stage of one's own finds expires by the request's expiry, counted from now",
        arguments: [
            (Expiry.after(.seconds(100)), 99, 100), (.server(otherwise: .seconds(50)), 49, 50),
            (.standard, 86_399, 86_400),
        ])
    func ownStage(expiry: Expiry, fresh: Int, stale: Int) async throws {
        let (memory, picture) = (MemoryCache(), try Pictures.bytes("good/webp-lossy.webp"))
        let pipeline = ImagePipeline(clock: site.clock) {
            ResolveIdentifier()
            MemoryLookup(memory)
            ClosureStage("Own", accepts: .empty, produces: .original) { load in
                load.advance(to: .original(EncodedImage(bytes: picture)), from: .network)
                return .done
            }
            Decode()
            Store(memory, site.resources().responses)
        }
        var request = ImageRequest(site.origin.url("/a"))
        request.expiry = expiry
        #expect(try await pipeline.load(request).source == .network)
        site.clock.advance(by: .seconds(fresh))
        #expect(try await pipeline.load(request).source == .memory)
        site.clock.advance(by: .seconds(stale - fresh))
        #expect(try await pipeline.load(request).source == .network)
    }

    /// A list that keeps images in memory alone.
    private func withoutDisk(_ memory: MemoryCache, _ resources: PipelineResources) -> ImagePipeline {
        ImagePipeline(clock: site.clock) {
            ResolveIdentifier()
            MemoryLookup(memory)
            Fetch(resources.client)
            Decode()
            Store(memory, nil)
        }
    }

    @Test("Without a disk cache what was fetched stays in memory, with the lifetime that HTTP gives")
    func withoutDisk() async throws {
        let memory = MemoryCache()
        let resources = site.resources()
        let pipeline = withoutDisk(memory, resources)
        let request = ImageRequest(site.origin.url("/a"))
        #expect(try await pipeline.load(request).source == .network)
        site.clock.advance(by: .seconds(59))
        #expect(try await pipeline.load(request).source == .memory)
        site.clock.advance(by: .seconds(1))
        #expect(try await pipeline.load(request).source == .network)
        #expect(try await resources.responses.statistics()?.entries == 0)
    }

    @Test("Without a disk cache what says no-store is kept nowhere")
    func withoutDiskNoStore() async throws {
        site.origin.route("/a") { _ in
            .init(headers: [.cacheControl: "no-store"], body: (try? Pictures.bytes("good/webp-lossy.webp")) ?? [])
        }
        let memory = MemoryCache()
        let resources = site.resources()
        let pipeline = withoutDisk(memory, resources)
        _ = try await pipeline.load(ImageRequest(site.origin.url("/a")))
        #expect(memory.count == 0)
    }
}
