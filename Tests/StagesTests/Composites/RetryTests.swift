import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

@testable import PipelineHTTP

@Suite("Retries", .timeLimit(.minutes(5)))
struct RetryTests {
    private let site: Site

    init() throws { site = try Site() }

    /// A list that only fetches, at most four times, and waits for the whole of each delay unless told otherwise.
    private func pipeline(
        attempts: Int = 4, maximumDelay: Duration = .seconds(30), jitter: @escaping @Sendable () -> Double = { 1 }
    ) -> ImagePipeline {
        let resources = site.resources()
        return ImagePipeline(clock: site.clock) {
            ResolveIdentifier()
            Retry(attempts: attempts, initialDelay: .seconds(1), maximumDelay: maximumDelay, jitter: jitter) {
                Fetch(resources.client)
            }
        }
    }

    /// Starts a load that has to wait, and lets the time pass that it waits for before each of its attempts.
    private func load(
        _ pipeline: ImagePipeline, waiting delays: Duration..., events: (@Sendable (LoadEvent) -> Void)? = nil
    ) async throws -> LoadResponse {
        let request = ImageRequest(site.origin.url("/a"))
        let task = Task { try await pipeline.load(request, events: events) }
        for delay in delays {
            try await site.clock.sleepers(1)
            let requests = site.requests
            site.clock.advance(by: delay - .nanoseconds(1))
            // Still asleep: it waits for no less.
            try await site.clock.sleepers(1)
            #expect(site.requests == requests)
            site.clock.advance(by: .nanoseconds(1))
            await site.origin.until { $0.requests.count > requests }
        }
        return try await task.value
    }

    @Test(
        "A failure that may pass is tried again, after delays that double", arguments: [408, 429, 500, 502, 503, 504])
    func transient(status: Int) async throws {
        let failed = ScriptedOrigin.Reply(status: status)
        site.origin.script("/a", failed, failed, failed, .init(body: "at last"))
        let response = try await load(pipeline(), waiting: .seconds(1), .seconds(2), .seconds(4))
        #expect(response.encoded?.bytes == Array("at last".utf8))
        #expect(site.requests == 4)
        #expect(
            response.trace.entries.map { "\($0.depth) \($0.stage) \($0.outcome)" } == [
                "0 ResolveIdentifier done", "0 Retry done", "1 Fetch failed", "1 Fetch failed", "1 Fetch failed",
                "1 Fetch done",
            ])
    }

    @Test("A status that will stay is not tried again", arguments: [400, 401, 403, 404, 410, 501, 505])
    func permanent(status: Int) async throws {
        site.origin.script("/a", .init(status: status))
        let error = await failure(.httpStatus) { try await load(pipeline()) }
        #expect(error?.httpStatus == status)
        #expect(site.requests == 1)
    }

    @Test("A connection that breaks before the answer is tried again")
    func broken() async throws {
        site.origin.script("/a", .raw(""), .init(body: "at last"))
        #expect(try await load(pipeline(), waiting: .seconds(1)).source == .network)
    }

    @Test("The delay doubles no further than the longest one, and each is a random share of it")
    func jitter() async throws {
        site.origin.script("/a", .init(status: 503))
        let error = await failure(.httpStatus) {
            try await load(
                pipeline(maximumDelay: .seconds(3), jitter: { 0.5 }), waiting: .seconds(0.5), .seconds(1),
                .seconds(1.5))
        }
        #expect(site.requests == 4)
        #expect(error?.trace.entries(of: Retry.self).first?.fact == .attempts(4))
    }

    @Test("Retry-After is waited for, in seconds and as a date, and never less than it")
    func retryAfter() async throws {
        let date = HTTPDate.format(site.clock.now + 12)
        let headers: [HTTPFields] = [[.retryAfter: "7"], [.retryAfter: date], [.retryAfter: "soon"]]
        site.origin.script(
            "/a", .init(status: 429, headers: headers[0]), .init(status: 503, headers: headers[1]),
            .init(status: 503, headers: headers[2]), .init(body: "at last"))
        // The first wait took 7 of the 12 seconds.
        _ = try await load(pipeline(), waiting: .seconds(7), .seconds(5), .seconds(4))
        #expect(site.requests == 4)
    }

    @Test("A Retry-After that is longer than the longest delay ends the attempts, and the error carries it")
    func longRetryAfter() async throws {
        site.origin.script("/a", .init(status: 503, headers: [.retryAfter: "31"]))
        let error = await failure(.httpStatus) { try await load(pipeline()) }
        #expect(error?.retryAfter == .seconds(31))
        #expect(site.requests == 1)
    }

    @Test("A load that is cancelled while it waits ends at once and is not tried again")
    func cancelled() async throws {
        site.origin.script("/a", .init(status: 503))
        let pipeline = pipeline()
        let request = ImageRequest(site.origin.url("/a"))
        let task = Task { try await pipeline.load(request) }
        try await site.clock.sleepers(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(site.requests == 1)
    }

    @Test(
        "What stays wrong is not tried again",
        arguments: [LoadError.Code.refused, .undecodable, .malformedResponse, .tooManyBytes, .invalidURL])
    func codes(code: LoadError.Code) async throws {
        let attempts = Counter()
        let pipeline = ImagePipeline(clock: site.clock) {
            Retry {
                StubStage("Fetch", produces: .original) { load in
                    attempts.increment()
                    throw LoadError(code, subject: load.subject, "No.")
                }
            }
        }
        _ = await failure(code) { try await load(pipeline) }
        #expect(attempts.value == 1)
    }

    @Test("Time-outs are tried again; one attempt is one attempt")
    func timeouts() async throws {
        let attempts = Counter()
        let stage = StubStage("Fetch", produces: .original) { load in
            attempts.increment()
            throw LoadError(.timedOut, subject: load.subject, "Too slow.")
        }
        let clock = site.clock
        let twice = ImagePipeline(clock: clock) { Retry(attempts: 2, initialDelay: .zero) { stage } }
        _ = await failure(.timedOut) { try await load(twice) }
        #expect(attempts.value == 2)
        let once = ImagePipeline(clock: clock) { Retry(attempts: 1, initialDelay: .zero) { stage } }
        _ = await failure(.timedOut) { try await load(once) }
        #expect(attempts.value == 3)
    }

    @Test("An observer sees one request: sent once, completed once with the last word")
    func events() async throws {
        let seen = Lock([String]())
        let note: @Sendable (LoadEvent) -> Void = { event in
            let text: String? =
                switch event {
                case .sendingRequest: "sending"
                case .requestCompleted(let source, let error):
                    "completed \(source.map(\.rawValue) ?? "-") \(error?.httpStatus ?? 0)"
                default: nil
                }
            if let text { seen.withLock { $0.append(text) } }
        }
        site.origin.script("/a", .init(status: 503), .init(body: "at last"))
        _ = try await load(pipeline(), waiting: .seconds(1), events: note)
        #expect(seen.withLock { $0 } == ["sending", "completed network 0"])

        seen.withLock { $0 = [] }
        site.origin.script("/a", .init(status: 503), .init(status: 404))
        let error = await failure(.httpStatus) { try await load(pipeline(), waiting: .seconds(1), events: note) }
        #expect(error?.httpStatus == 404)
        #expect(seen.withLock { $0 } == ["sending", "completed - 404"])
    }

    @Test("It goes into a policy in the place of Fetch, where all who wait share the attempts")
    func inserted() async throws {
        let resources = site.resources()
        let pipeline = ImagePipeline.returnCacheElseLoad(resources).replacing(
            Fetch.self,
            with: Retry(initialDelay: .seconds(1), jitter: { 1 }) {
                Fetch(resources.client)
            })
        #expect("\(pipeline)".contains("Retry(attempts: 3) {"))
        let picture = try Pictures.bytes("good/webp-lossy.webp")
        site.origin.script("/a", .init(status: 503), .init(body: picture))
        let requests = [ImageRequest(site.origin.url("/a")), ImageRequest(site.origin.url("/a"), maxPixelSize: 50)]
        let tasks = requests.map { request in Task { try await pipeline.load(request) } }
        await site.flights.reaches(waiters: 4)
        try await site.clock.sleepers(1)
        site.clock.advance(by: .seconds(1))
        #expect(try await tasks[0].value.size == PixelSize(width: 160, height: 120))
        #expect(try await tasks[1].value.image?.width == 50)
        #expect(site.requests == 2)
    }

    @Test(
        "With LimitErrors around it, all attempts count as one, and StaleIfError stands in before and after the limit")
    func amongOthers() async throws {
        let fields: HTTPFields = [.cacheControl: "max-age=60, stale-if-error=3600", .eTag: "\"1\""]
        let site = try Site(fields)
        let resources = site.resources()
        let limits = ErrorLimits(serverErrors: .init(attempts: 2, maxAge: .seconds(600)))
        let pipeline = ImagePipeline.returnCacheElseLoad(resources).removing(MemoryLookup.self).replacing(
            Fetch.self,
            with: LimitErrors(limits, in: resources.responses) {
                Retry(attempts: 2, initialDelay: .seconds(1), jitter: { 1 }) {
                    Fetch(resources.client)
                }
            })
        let request = ImageRequest(site.origin.url("/a"))
        #expect(try await pipeline.load(request).source == .network)
        site.clock.advance(by: .seconds(61))

        let failed = ScriptedOrigin.Reply(status: 503)
        site.origin.script("/a", failed, failed, failed, failed, .init(status: 304, headers: fields))
        for count in [3, 5] {
            let task = Task { try await pipeline.load(request) }
            try await site.clock.sleepers(1)
            site.clock.advance(by: .seconds(1))
            let response = try await task.value
            #expect(response.source == .disk && response.isStale)
            #expect(site.requests == count)
        }
        #expect(try await pipeline.load(request).isStale)
        #expect(site.requests == 5, "Both attempts that are allowed were used up.")
        site.clock.advance(by: .seconds(600))
        #expect(try await pipeline.load(request).source == .revalidated)
    }
}
