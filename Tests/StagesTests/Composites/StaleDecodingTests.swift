import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

/// A stale image is decoded only for somebody who sees it, and only if memory has it no more.
@Suite("Decoding of stale images")
struct StaleDecodingTests {
    private let site: Site
    private let decodes = Counter()

    init() throws { site = try Site([.eTag: "\"1\"", .cacheControl: "no-cache"]) }

    /// A loader that counts decoded pictures.
    private func loader(
        _ resources: PipelineResources? = nil, observers: [any LoadObserver] = [],
        wait: @escaping @Sendable () async -> Void = {}
    ) throws -> ImageLoader {
        let decodes = decodes
        return try ImageLoader(resources ?? site.resources(), observers: observers) { policy, resources in
            policy.pipeline(resources).inserting(
                ClosureTransform("Count", signature: "1") { image in
                    decodes.increment()
                    await wait()
                    return image
                }, after: Decode.self)
        }
    }

    private func change() throws {
        let other = try Pictures.bytes("good/jpeg-progressive-444.jpg")
        site.origin.route("/a") { _ in .init(headers: [.eTag: "\"2\"", .cacheControl: "no-cache"], body: other) }
    }

    @Test("An image that is in memory is confirmed by each 304 without being decoded again", arguments: [true, false])
    func inMemory(isWatched: Bool) async throws {
        let loader = try loader()
        let url = site.origin.url("/a")
        _ = try await loader.load(url)
        for _ in 0..<4 {
            var events: (@Sendable (LoadEvent) -> Void)?
            if isWatched { events = { @Sendable _ in } }
            let response = try await loader.load(ImageSource(url), events: events)
            #expect(response.source == .revalidated)
            #expect(response.image.width == 160)
        }
        #expect(decodes.value == 1)
        #expect(site.requests == 5)
    }

    @Test("The result of a list that works on the image after the lookup is confirmed as it is, too")
    func transformed() async throws {
        let decodes = decodes
        let loader = try ImageLoader(site.resources()) { policy, resources in
            policy.pipeline(resources).inserting(
                ClosureTransform("Halve", signature: "1") { image in
                    decodes.increment()
                    return .filled(PixelSize(width: image.width / 2, height: image.height / 2))
                }, before: Store.self)
        }
        for source in [LoadSource.network, .revalidated, .revalidated] {
            let response = try await loader.load(site.origin.url("/a"))
            #expect(response.source == source)
            #expect(response.image.width == 80)
        }
    }

    @Test("A load that nobody watches decodes the response alone, though it is inside a Coalesce")
    func unwatched() async throws {
        _ = try await loader().load(site.origin.url("/a"))
        try change()
        let response = try await loader().load(site.origin.url("/a"))
        #expect(response.source == .network)
        #expect(decodes.value == 2)
    }

    @Test("Observers of a loader see no images, so that none is decoded for them")
    func observed() async throws {
        _ = try await loader().load(site.origin.url("/a"))
        try change()
        _ = try await loader(observers: [ObservationRecorder()]).load(site.origin.url("/a"))
        #expect(decodes.value == 2)
    }

    @Test("For somebody who watches, the stale image is decoded while the origin is asked, and reported first")
    func watched() async throws {
        _ = try await loader().load(site.origin.url("/a"))
        let origin = site.origin
        // The stale image is not done before the origin has been asked.
        let task = try loader { await origin.until { $0.requests.count == 2 } }.task(for: site.origin.url("/a"))
        var words: [String] = []
        for await event in task.events { if let word = event.words { words.append(word) } }
        #expect(
            words == ["hasCache(disk)", "sendingRequest(true)", "requestCompleted(no image, revalidated)"])
        #expect(decodes.value == 2)
        // The trace has all that took time.
        let stages = try await task.response.trace.entries.map(\.stage)
        #expect(stages.contains("Decode") && stages.contains("Fetch"))
    }

    @Test("A stale image that may be given while it is refreshed is given from memory")
    func refreshed() async throws {
        let picture = try Pictures.bytes("good/webp-lossy.webp")
        site.origin.route("/a") { _ in
            .init(headers: [.cacheControl: "max-age=0, stale-while-revalidate=60", .eTag: "\"1\""], body: picture)
        }
        let resources = site.resources()
        let loader = try loader(resources)
        _ = try await loader.load(site.origin.url("/a"))
        let response = try await loader.load(site.origin.url("/a"))
        #expect(response.isStale)
        #expect(response.source == .memory)
        await site.flights.drain()
    }
}
