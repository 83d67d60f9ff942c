import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

@Suite("Which of the loads that share a fetch stores the original", .timeLimit(.minutes(5)))
struct StoreClaimTests {
    private let site: Site

    init() throws { site = try Site() }

    @Test("The original is stored though the load that was to store it is cancelled meanwhile")
    func cancelledClaimer() async throws {
        // Longer than what lies in the database: it needs a thread for its file.
        let body = [UInt8](repeating: 7, count: 100_000)
        site.origin.route("/long") { _ in .init(headers: [.cacheControl: "max-age=60"], body: body) }
        let resources = site.resources()
        let (flights, responses) = (resources.flights, resources.responses)
        let (looked, gate) = (Counter(), Gate())
        let pipeline = ImagePipeline(clock: site.clock) {
            ResolveIdentifier()
            Coalesce(flights, by: .variant) {
                Coalesce(flights, by: .source) { Fetch(resources.client) }
                StubStage("Decode", accepts: .original) { load in
                    looked.increment()
                    if load.request.maxPixelSize == 20 { try await gate.wait() }
                    load.advance(to: .decoded(.filled(2)))
                    return .done
                }
                Store(resources.memory, responses)
            }
        }
        let source = ImageSource(site.origin.url("/long"))
        @Sendable func request(_ size: PixelSize) -> ImageRequest { ImageRequest(source, maxPixelSize: size) }
        // The cache is open, and then all its threads are busy.
        _ = await responses.flush()
        let (began, barrier) = (Counter(), Barrier())
        let blockers = (0..<responses.fileThreads.count).map { _ in
            Task {
                try await responses.fileThreads.run { _ in
                    began.increment()
                    barrier.wait()
                }
            }
        }
        await began.reaches(blockers.count)

        let claiming = Task { try await pipeline.load(request(10)) }
        let sharing = Task { try await pipeline.load(request(20)) }
        await looked.reaches(2)
        while responses.fileThreads.waiting < 1 { await Task.yield() }
        gate.open()
        _ = try await sharing.value
        claiming.cancel()
        await #expect(throws: CancellationError.self) { try await claiming.value }
        barrier.open()
        for blocker in blockers { try await blocker.value }
        await flights.drain()
        #expect(site.requests == 1)
        guard let key = SourceKey(request(10)), case .fresh = try await responses.lookup(key) else {
            Issue.record("It is not on disk.")
            return
        }
    }

    @Test("Of loads that share a fetch none keeps a picture in memory that something newer has overtaken")
    func overtaken() async throws {
        let resources = site.resources()
        let (flights, responses) = (resources.flights, resources.responses)
        let (looked, stored, gate) = (Counter(), Counter(), Gate())
        let pipeline = ImagePipeline(clock: site.clock) {
            ResolveIdentifier()
            Coalesce(flights, by: .variant) {
                Coalesce(flights, by: .source) { Fetch(resources.client) }
                StubStage("Decode", accepts: .original) { load in
                    looked.increment()
                    try await gate.wait()
                    // One writes after the others have stored, another one before.
                    if load.request.maxPixelSize == 30 { await stored.reaches(2) }
                    load.advance(to: .decoded(.filled(2)))
                    return .done
                }
                Store(resources.memory, responses)
            }
        }
        let url = site.origin.url("/a")
        let loads = [10, 20, 30].map { size in
            Task {
                defer { stored.increment() }
                return try await pipeline.load(ImageRequest(ImageSource(url), maxPixelSize: PixelSize(square: size)))
            }
        }
        await looked.reaches(3)
        let key = try #require(SourceKey(ImageRequest(url)))
        site.clock.advance(by: .seconds(1))
        let newer = try HTTPExchange.test(url.absoluteString, body: [1], at: site.clock.now)
        #expect(await responses.commit(newer, for: key) != nil)
        gate.open()
        for load in loads { _ = try await load.value }
        #expect(resources.memory.count == 0)
        #expect(site.requests == 1)
    }

    @Test("Where the system refuses the thread that writes, nothing is stored, and the next change tries again")
    func refusedThread() async throws {
        let responses = site.resources().responses
        let exchange = try HTTPExchange.test(
            "http://example.com/a", request: [:], status: 200, [.cacheControl: "max-age=60"], body: [1],
            at: site.clock.now)
        let refused = await Stages.Thread.$isRefused.withValue(true) {
            await responses.commit(exchange, for: .test("a"))
        }
        #expect(refused == nil)
        #expect(await responses.commit(exchange, for: .test("a")) != nil)
    }
}
