import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

@Suite("A response says how long it is fresh, by what it can be validated, and its media type")
struct ResponseFactsTests {
    private let site: Site

    init() throws { site = try Site([.eTag: "\"1\"", .cacheControl: "max-age=60", .contentType: "image/webp"]) }

    private func load(
        _ resources: PipelineResources, _ path: String = "/a", maxPixelSize: PixelSize? = nil,
        _ expiry: Expiry = .standard
    ) async throws -> LoadResponse {
        try await ImagePipeline.returnCacheElseLoad(resources).load(
            ImageRequest(.url(site.origin.url(path)), maxPixelSize: maxPixelSize, expiry: expiry))
    }

    @Test("The same from the network, from memory, from disk and confirmed by the origin")
    func everySource() async throws {
        let resources = site.resources()
        let end = site.clock.now + 60
        let answers = [try await load(resources), try await load(resources), try await load(site.resources())]
        #expect(answers.map(\.source) == [.network, .memory, .disk])
        site.clock.advance(by: .seconds(61))
        let confirmed = [try await load(resources), try await load(resources)]
        #expect(confirmed.map(\.source) == [.revalidated, .memory])
        for answer in answers { #expect((answer.freshUntil, answer.confirmedAt) == (end, end - 60)) }
        for answer in confirmed {
            #expect((answer.freshUntil, answer.confirmedAt) == (site.clock.now + 60, site.clock.now))
        }
        for answer in answers + confirmed { #expect(answer.mediaType == "image/webp") }
        let validators = Set((answers + confirmed).map { $0.validator ?? "" })
        #expect(validators.map(\.count) == [32])
    }

    @Test("A loader's response says the same")
    func ofLoader() async throws {
        let (resources, url) = (site.resources(), site.origin.url("/a"))
        let (response, loader) = (try await load(resources, maxPixelSize: 300), ImageLoader(resources))
        let image = try await loader.load(url)
        #expect(image.freshUntil == response.freshUntil && image.freshUntil != nil)
        #expect(image.confirmedAt == response.confirmedAt && image.confirmedAt != nil)
        #expect(image.validator == response.validator && image.validator != nil)
        #expect(image.mediaType == "image/webp")
        #expect(image.sourceKey == response.sourceKey && image.sourceKey != nil)
    }

    @Test("The validator changes with the source, and with what is made of it")
    func validator() async throws {
        let resources = site.resources()
        let picture = try Pictures.bytes("good/webp-lossy.webp")
        for (path, headers): (String, HTTPFields) in [
            ("/tag", [.eTag: "\"2\""]), ("/date", [.lastModified: "Tue, 01 Jul 2019 12:34:56 GMT"]), ("/none", [:]),
        ] {
            site.origin.route(path) { _ in .init(headers: headers, body: picture) }
        }
        let validators = [
            try await load(resources).validator, try await load(resources, maxPixelSize: 40).validator,
            try await load(resources, "/tag").validator, try await load(resources, "/date").validator,
        ]
        #expect(Set(validators.compactMap(\.self)).count == 4)
        #expect(try await load(resources, "/none").validator == nil)
    }

    @Test("The request's expiry counts, and what may not be kept is fresh no longer than now")
    func expiries() async throws {
        let now = site.clock.now
        let picture = try Pictures.bytes("good/webp-lossy.webp")
        for control in ["no-store", "no-cache"] {
            site.origin.route("/\(control)") { _ in .init(headers: [.cacheControl: control], body: picture) }
            #expect(try await load(site.resources(), "/\(control)").freshUntil == now)
        }
        #expect(try await load(site.resources(), "/after", .after(.seconds(5))).freshUntil == now + 5)
        #expect(try await load(site.resources(), "/never", .never).freshUntil == nil)
    }

    @Test("A file has no end and no validator")
    func file() async throws {
        let path = Pictures.path("good/webp-lossy.webp")
        let resources = site.resources()
        for _ in 0..<2 {
            let answer = try await ImagePipeline.returnCacheElseLoad(resources).load(ImageRequest(.file(path)))
            #expect(answer.freshUntil == nil)
            #expect(answer.validator == nil)
        }
    }

    @Test("A stale image says when it stopped being fresh")
    func stale() async throws {
        let resources = site.resources()
        let end = site.clock.now + 60
        _ = try await load(resources)
        site.clock.advance(by: .seconds(100))
        for resources in [resources, site.resources()] {
            let answer = try await ImagePipeline.offline(resources).load(ImageRequest(site.origin.url("/a")))
            #expect(answer.isStale)
            #expect(answer.freshUntil == end)
        }
    }
}
