import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

@Suite("Timeout", .timeLimit(.minutes(5)))
struct TimeoutTests {
    private let site: Site
    private let gate: ScriptedOrigin.Gate

    init() throws {
        site = try Site()
        gate = try ScriptedOrigin.Gate()
        site.origin.route("/held") { [gate] _ in .init(body: "late").held(until: gate) }
    }

    private func pipeline(_ limit: Duration = .seconds(2)) -> ImagePipeline {
        let resources = site.resources()
        return ImagePipeline(clock: site.clock) {
            ResolveIdentifier()
            Timeout(limit) {
                Fetch(resources.client)
            }
        }
    }

    /// Waits until a limit is being waited for, and lets it pass.
    private func passLimit(_ limit: Duration) async throws {
        await site.origin.until { !$0.requests.isEmpty }
        try await site.clock.sleepers(1, includingLimits: true)
        site.clock.advance(by: limit)
    }

    @Test("A body that takes too long is cancelled, and the error's trace has what it did")
    func tooLong() async throws {
        let pipeline = pipeline()
        let task = Task { try await pipeline.load(ImageRequest(site.origin.url("/held"))) }
        try await passLimit(.seconds(2))
        let error = await #expect(throws: LoadError.self) { try await task.value }
        #expect(error?.code == .timedOut)
        #expect(error?.stage == "Timeout")
        #expect(error?.message.contains("longer than 2.0 s") == true)
        try expectTrace(
            #require(error?.trace),
            """
            ResolveIdentifier done
            Timeout failed
                Fetch failed
            """)
        await site.origin.until { $0.closedConnections == 1 }
        #expect(site.origin.log.closedConnections == 1)
    }

    @Test("A body that is in time gives what it has, its events and its errors")
    func inTime() async throws {
        let events = Counter()
        let request = ImageRequest(site.origin.url("/a"))
        let response = try await pipeline().load(request) { event in
            if case .sendingRequest = event { events.increment() }
        }
        #expect(response.source == .network)
        #expect(events.value == 1)
        site.origin.route("/missing") { _ in .init(status: 404) }
        let error = await #expect(throws: LoadError.self) {
            try await pipeline().load(ImageRequest(site.origin.url("/missing")))
        }
        #expect(error?.httpStatus == 404)
        #expect(error?.stage == "Fetch")
    }

    @Test("A load that is cancelled ends as cancelled, not as too late")
    func cancelled() async throws {
        let pipeline = pipeline()
        let task = Task { try await pipeline.load(ImageRequest(site.origin.url("/held"))) }
        await site.origin.until { !$0.requests.isEmpty }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("A stale image stands in for an origin that takes too long")
    func standsIn() async throws {
        let resources = site.resources()
        let pipeline = ImagePipeline.returnCacheElseLoad(resources).replacing(
            Fetch.self, with: Timeout(.seconds(2)) { Fetch(resources.client) })
        site.origin.script(
            "/slow", .init(headers: [.cacheControl: "max-age=60"], body: try Pictures.bytes("good/webp-lossy.webp")))
        let request = ImageRequest(site.origin.url("/slow"))
        _ = try await pipeline.load(request)
        site.clock.advance(by: .seconds(61))
        site.origin.route("/slow") { [gate] _ in .init(body: "late").held(until: gate) }
        let task = Task { try await pipeline.load(request) }
        await site.origin.until { $0.requests.count == 2 }
        try await site.clock.sleepers(1, includingLimits: true)
        site.clock.advance(by: .seconds(2))
        #expect(try await task.value.isStale)
    }

    @Test("It keeps to the contract of stages")
    func contract() async throws {
        try await StageSpec(Timeout(.seconds(1)) { ReadInline() }).check()
    }

    @Test("A load's own timeout holds for all of the load, and an image in memory is there at once")
    func options() async throws {
        let loader = site.loader()
        let options = LoadOptions(timeout: .seconds(3))
        let task = loader.task(for: site.origin.url("/held"), options: options)
        try await passLimit(.seconds(3))
        let error = await #expect(throws: LoadError.self) { try await task.response }
        #expect(error?.code == .timedOut)
        _ = try await loader.load(site.origin.url("/a"))
        #expect(try loader.task(for: site.origin.url("/a"), options: options).result?.get().source == .memory)
        loader.defaults.timeout = .seconds(4)
        let other = loader.task(for: site.origin.url("/held"))
        try await passLimit(.seconds(4))
        await #expect(throws: LoadError.self) { try await other.response }
    }

    @Test("A load that shares work with a timed-out load still gets its image")
    func shared() async throws {
        let loader = site.loader()
        let picture = try Pictures.bytes("good/webp-lossy.webp")
        site.origin.route("/picture") { [gate] _ in .init(body: picture).held(until: gate) }
        let url = site.origin.url("/picture")
        let hasty = loader.task(for: url, options: LoadOptions(timeout: .seconds(1)))
        let patient = loader.task(for: url)
        try await passLimit(.seconds(1))
        await #expect(throws: LoadError.self) { try await hasty.response }
        gate.open()
        #expect(try await patient.response.source == .network)
        #expect(site.requests == 1)
    }
}
