import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

@Suite("Another picture stands in for a source that can't be loaded", .inEachStore)
struct FallbackTests {
    private let site: Site
    private let resources: PipelineResources
    private let missing = Picture.png(PixelSize(width: 40, height: 20), with: [1, 2, 3])

    init() throws {
        site = try Site()
        resources = site.resources()
    }

    private func list(to source: ImageSource? = nil) -> ImagePipeline {
        ImagePipeline.returnCacheElseLoad(resources).wrapping(from: ResolveIdentifier.self) { all in
            Fallback(to: source ?? .bytes(missing)) { all }
        }
    }

    private func load(
        _ path: String, _ headers: HTTPFields = [:], side: Int? = nil, through list: ImagePipeline? = nil
    ) async throws -> LoadResponse {
        try await (list ?? self.list()).load(
            ImageRequest(
                .url(site.origin.url(path)), maxPixelSize: side.map { PixelSize(square: $0) }, headers: headers,
                tags: ["news"]))
    }

    @Test("A source that is missing, unreachable or no picture is shown by the fallback in the same size")
    func failures() async throws {
        site.origin.route("/missing") { _ in .init(status: 404) }
        site.origin.route("/broken") { _ in .raw("") }
        site.origin.route("/text") { _ in .init(headers: [.contentType: "text/html"], body: Array("<p>".utf8)) }
        site.origin.route("/damaged") { _ in .init(body: Array(Picture.png(9, with: [1, 2, 3]).prefix(40))) }
        for path in ["/missing", "/broken", "/text", "/damaged"] {
            let response = try await load(path, side: 10)
            #expect(response.isFallback && response.image?.pixels.prefix(3) == [1, 2, 3], "\(path)")
            #expect(response.size == PixelSize(width: 10, height: 5))
            #expect("\(response.trace)".contains("the fallback stands in"))
        }
        let real = try await load("/real")
        #expect(!real.isFallback && real.size == PixelSize(width: 160, height: 120))
    }

    @Test("Nothing is kept for the source, and the real picture is shown as soon as there is one")
    func recovery() async throws {
        let picture = try Pictures.bytes("good/webp-lossy.webp")
        site.origin.script("/a", .init(status: 404), .init(status: 404), .init(body: picture))
        for isFallback in [true, true, false, false] {
            #expect(try await load("/a").isFallback == isFallback)
        }
        #expect(site.requests == 3)
    }

    @Test("A result is fresh for the fallback's own time")
    func lifetime() async throws {
        site.origin.route("/a") { _ in .init(status: 500) }
        for _ in 0..<2 {
            #expect(try await load("/a").freshUntil == site.clock.now.addingTimeInterval(60))
            site.clock.advance(by: .seconds(5))
        }
    }

    @Test("A fallback from another origin gets none of the source's header fields, identifiers and tags")
    func otherOrigin() async throws {
        let other = try Site()
        site.origin.route("/a") { _ in .init(status: 404) }
        let list = list(to: .url(other.origin.url("/missing.webp")))
        let response = try await load("/a", [.authorization: "Bearer secret"], through: list)
        #expect(response.isFallback && response.size == PixelSize(width: 160, height: 120))
        #expect(other.origin.log.requests.map { $0.headers[.authorization] } == [nil])
        #expect(try await load("/a", through: list).source == .memory)
    }

    @Test("The source's own error is thrown if the fallback fails too, and errors that aren't the source's always are")
    func errors() async throws {
        site.origin.route("/a") { _ in .init(status: 418) }
        let broken = list(to: .file("/nonexistent/missing.png"))
        let error = await #expect(throws: LoadError.self) { try await load("/a", through: broken) }
        #expect(error?.httpStatus == 418)
        var resources = resources
        resources.allowedSources = [.files, .inline]
        let guarded = ImagePipeline.returnCacheElseLoad(resources).wrapping(from: ResolveIdentifier.self) { all in
            Fallback(to: .bytes(missing)) { all }
        }
        let refusal = await #expect(throws: LoadError.self) { try await load("/a", through: guarded) }
        #expect(refusal?.code == .refused)
    }

    @Test("A miss of a list without an origin is shown by the fallback, and stays a miss if that is one too")
    func misses() async throws {
        func offline(to source: ImageSource) -> ImagePipeline {
            ImagePipeline.returnCacheDontLoad(resources).wrapping(from: ResolveIdentifier.self) { all in
                Fallback(to: source) { all }
            }
        }
        #expect(try await load("/a", through: offline(to: .bytes(missing))).isFallback)
        let error = await #expect(throws: LoadError.self) {
            try await load("/a", through: offline(to: .url(site.origin.url("/b"))))
        }
        #expect(error?.code == .notCached && error?.subject.hasSuffix("/a") == true)
    }

    @Test("Around a fetch alone it replaces the bytes, and nothing is kept under the source's name")
    func narrow() async throws {
        site.origin.route("/a") { _ in .init(status: 404) }
        let file = site.folder + ".png"
        try Data(missing).write(to: URL(fileURLWithPath: file))
        defer { try? FileManager.default.removeItem(atPath: file) }
        let list = ImagePipeline {
            ResolveIdentifier()
            MemoryLookup(resources.memory)
            Fallback(to: .file(file)) {
                ReadFile()
                Fetch(resources.client)
            }
            Decode()
            Store(resources.memory)
        }
        for _ in 0..<2 { #expect(try await load("/a", through: list).isFallback) }
        #expect(site.requests == 2)
    }

    @Test("Loads that share the work all know that it is a fallback")
    func shared() async throws {
        site.origin.route("/a") { _ in .init(status: 404) }
        let list = ImagePipeline {
            ResolveIdentifier()
            Coalesce(resources.flights, by: .variant) { self.list().chain }
        }
        let loads = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<4 { group.addTask { try await load("/a", through: list).isFallback } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(loads == [true, true, true, true])
    }
}
