import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

/// BEHAVIOURS 16.
@Suite("Errors of the origin that are believed for a while", .inEachStore)
struct LimitErrorsTests {
    private let site: Site
    private let limits = ErrorLimits(
        clientErrors: .init(attempts: 2, maxAge: .seconds(60)), serverErrors: .init(attempts: 1, maxAge: .seconds(10)))

    init() throws { site = try Site() }

    private func status(_ path: String = "/a", headers: HTTPFields = [:]) async -> Int? {
        var resources = site.resources()
        resources.errorLimits = limits
        do {
            _ = try await ImagePipeline.returnCacheElseLoad(resources).load(
                ImageRequest(.url(site.origin.url(path)), headers: headers))
            return 200
        } catch {
            return (error as? LoadError)?.httpStatus
        }
    }

    @Test("When the attempts are used up the error is answered without a request, until it is too old")
    func attempts() async throws {
        site.origin.route("/a") { _ in .init(status: 404) }
        for _ in 0..<5 { #expect(await status() == 404) }
        #expect(site.requests == 2)
        site.clock.advance(by: .seconds(59))
        #expect(await status() == 404)
        #expect(site.requests == 2)
        site.clock.advance(by: .seconds(1))
        for _ in 0..<5 { #expect(await status() == 404) }
        #expect(site.requests == 4)
    }

    @Test("What one user is answered is believed for that user alone")
    func users() async throws {
        let picture = try Pictures.bytes("good/webp-lossy.webp")
        site.origin.route("/a") { request in
            request.headers[.cookie] == "alice" ? .init(body: picture) : .init(status: 401)
        }
        for _ in 0..<3 { #expect(await status() == 401) }
        for _ in 0..<3 { #expect(await status(headers: [.cookie: "bob"]) == 401) }
        #expect(await status(headers: [.cookie: "alice"]) == 200)
        #expect(site.requests == 5)
    }

    @Test("Each class of statuses has its own limit")
    func classes() async throws {
        site.origin.route("/a") { _ in .init(status: 503) }
        for _ in 0..<3 { #expect(await status() == 503) }
        #expect(site.requests == 1)
        site.clock.advance(by: .seconds(10))
        #expect(await status() == 503)
        #expect(site.requests == 2)
    }

    @Test("A response ends the count, whatever is stored of it")
    func success() async throws {
        let picture = try Pictures.bytes("good/webp-lossy.webp")
        site.origin.script(
            "/a", .init(status: 404), .init(headers: [.cacheControl: "no-store"], body: picture), .init(status: 404))
        #expect(await status() == 404)
        #expect(await status() == 200)
        for _ in 0..<4 { #expect(await status() == 404) }
        #expect(site.requests == 4)
    }

    @Test("That the origin can't be reached never counts")
    func unreachable() async throws {
        site.origin.route("/a") { _ in .raw("") }
        for _ in 0..<4 { #expect(await status() == nil) }
        #expect(site.requests == 4)
    }

    @Test("Loads that share a fetch count it once")
    func shared() async throws {
        let gate = try ScriptedOrigin.Gate()
        site.origin.route("/a") { _ in ScriptedOrigin.Reply(status: 404).held(until: gate) }
        var resources = site.resources()
        resources.errorLimits = limits
        let pipeline = ImagePipeline.returnCacheElseLoad(resources)
        let url = site.origin.url("/a")
        await withTaskGroup(of: Void.self) { group in
            for side in 1...4 {
                group.addTask {
                    _ = try? await pipeline.load(ImageRequest(ImageSource(url), maxPixelSize: PixelSize(square: side)))
                }
            }
            await site.origin.until { !$0.requests.isEmpty }
            gate.open()
        }
        let key = try #require(SourceKey(ImageRequest(url)))
        #expect(try await resources.responses.failures(of: key)?.attempts == site.requests)
    }

    @Test("Without limits every load asks")
    func noLimits() async throws {
        site.origin.route("/a") { _ in .init(status: 404) }
        let loader = site.loader()
        for _ in 0..<3 { _ = try? await loader.load(site.origin.url("/a")) }
        #expect(site.requests == 3)
    }

    @Test("The error says how often, how long ago, and when the origin is asked again")
    func message() async throws {
        site.origin.route("/a") { _ in .init(status: 503) }
        _ = await status()
        site.clock.advance(by: .seconds(4))
        var resources = site.resources()
        resources.errorLimits = limits
        let error = await #expect(throws: LoadError.self) {
            try await ImagePipeline.returnCacheElseLoad(resources).load(ImageRequest(site.origin.url("/a")))
        }
        #expect(
            error?.message
                == "The origin answered 503 once, most recently 4 s ago; it is not asked again for 6 s.")
    }
}
