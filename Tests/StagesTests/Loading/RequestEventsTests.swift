import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

/// Fetches as a stage of one's own does: with an `await`, and without a word on events.
private struct OwnFetcher: Stage {
    let accepts: Phases = .empty
    let leaves: Set<ResponseState.Kind> = [.fetched, .confirmed]
    let gate: Gate
    let answer: @Sendable (URL, Date) throws -> HTTPExchange

    func run(_ load: inout Load) async throws -> Outcome {
        guard case .url(let url) = load.request.source, url.host() != "skipped.example" else { return .skipped }
        try await gate.wait()
        load.deliver(try answer(url, load.clock.now))
        return .done
    }
}

@Suite("Events of stages of one's own")
struct RequestEventsTests {
    private let clock = ManualClock()
    private let gate = Gate()
    private let events = Lock<[String]>([])
    private let recorder = ObservationRecorder()
    private let picture = Picture.png(PixelSize(width: 40, height: 30))
    private let url: URL
    private let resources: PipelineResources

    init() throws {
        url = try #require(URL(string: "https://own.example/a"))
        resources = PipelineResources(
            memory: MemoryCache(), responses: HTTPCache(inMemory: 1_000_000, clock: clock), client: CurlClient(.local))
    }

    private func loader(_ stage: any Stage) throws -> ImageLoader {
        try ImageLoader(resources, observers: [recorder]) { policy, resources in
            policy.pipeline(resources).replacing(Fetch.self, with: stage, where: .present)
        }
    }

    private func load(_ url: URL? = nil, through stage: any Stage) async throws -> ImageResponse {
        try await loader(stage).load(ImageSource(url ?? self.url), events: take)
    }

    @Sendable private func take(_ event: LoadEvent) {
        let word: String? =
            switch event {
            case .sendingRequest(let had): had ? "sending again" : "sending"
            case .progress(let received, let expected): "\(received) of \(expected ?? -1)"
            case .requestCompleted(let source, let error):
                "completed: \(source.map { "\($0)" } ?? error?.code.rawValue ?? "nothing")"
            default: nil
            }
        if let word { events.withLock { $0.append(word) } }
    }

    private func fetcher(
        _ answer: @escaping @Sendable (URL, Date) throws -> HTTPExchange
    ) -> OwnFetcher { OwnFetcher(gate: gate, answer: answer) }

    @Test("A fetcher's request is told while it waits, then its bytes and its end, and observers see a download")
    func fetched() async throws {
        let (picture, sent) = (picture, Gate())
        let stage = fetcher { HTTPExchange(url: $0, bytes: picture, mediaType: "image/png", at: $1) }
        let loader = try loader(stage)
        let response = Task {
            try await loader.load(.url(url)) { event in
                take(event)
                if case .sendingRequest = event { sent.open() }
            }
        }
        // Told before the fetcher has anything: it waits for the gate.
        try await sent.wait()
        #expect(recorder.words == ["started", "download started"])
        gate.open()
        #expect(try await response.value.source == .network)
        #expect(events.withLock { $0 } == ["sending", "\(picture.count) of \(picture.count)", "completed: network"])
        #expect(recorder.words.contains("delivered: network"))
    }

    @Test("A confirmation is told without bytes, and with the image that there was")
    func confirmed() async throws {
        gate.open()
        let picture = picture
        let first = fetcher {
            HTTPExchange(url: $0, bytes: picture, lifetime: .seconds(1), validator: "1", at: $1)
        }
        _ = try await load(through: first)
        clock.advance(by: .seconds(10))
        events.withLock { $0 = [] }
        let same = fetcher { HTTPExchange(url: $0, bytes: nil, lifetime: .seconds(1), validator: "1", at: $1) }
        #expect(try await load(through: same).source == .revalidated)
        #expect(events.withLock { $0 } == ["sending again", "completed: revalidated"])
    }

    @Test("A stage that skips, guards or finds the bytes in a cache of its own tells of no request")
    func silent() async throws {
        let picture = picture
        let skipped = try #require(URL(string: "https://skipped.example/a"))
        let stage = fetcher { HTTPExchange(url: $0, bytes: picture, at: $1) }
        await #expect(throws: LoadError.self) { try await load(skipped, through: stage) }
        let lookup = ClosureStage("Lookup", accepts: .empty, produces: [.empty, .original]) { load in
            await Task.yield()
            load.advance(to: .original(EncodedImage(bytes: picture)), from: .shared)
            return .hit
        }
        #expect(try await load(through: lookup).source == .shared)
        let guarding = ClosureStage("Guard", accepts: .empty) { load in
            throw LoadError(.refused, subject: load.subject, "The host is on the block list.")
        }
        let other = try #require(URL(string: "https://own.example/b"))
        await #expect(throws: LoadError.self) { try await load(other, through: guarding) }
        #expect(events.withLock { $0 } == [])
        #expect(!recorder.words.contains("download started"))
    }

    @Test("What a stage brings from the network without a word is told once it is there")
    func undeclared() async throws {
        let picture = picture
        let bringing = ClosureStage("Bring", accepts: .empty) { load in
            load.report(.progress(received: 1, expected: nil))
            load.advance(to: .original(EncodedImage(bytes: picture)), from: .network)
            return .done
        }
        _ = try await load(through: bringing)
        #expect(events.withLock { $0 } == ["sending", "1 of -1", "completed: network"])
    }

    @Test("A stage that reports its request itself is not told twice")
    func byHand() async throws {
        let picture = picture
        let bringing = ClosureStage("Bring", accepts: .empty) { load in
            load.report(.sendingRequest(hadCachedImage: false))
            load.advance(to: .original(EncodedImage(bytes: picture)), from: .network)
            load.report(.requestCompleted(source: .network, error: nil))
            return .done
        }
        _ = try await load(through: bringing)
        #expect(events.withLock { $0 } == ["sending", "completed: network"])
    }

    @Test(
        "A delivered status that brings no image is the origin's error, with its Retry-After",
        arguments: [301, 304, 404, 503])
    func status(status: Int) async throws {
        gate.open()
        let stage = fetcher { url, time in
            HTTPExchange(
                url: url, status: status, headers: [.retryAfter: "7"], requestTime: time, responseTime: time, body: [])
        }
        let error = try await #require(throws: LoadError.self) { try await load(through: stage) }
        #expect(error.code == .httpStatus)
        #expect(error.httpStatus == status)
        #expect(error.retryAfter == .seconds(7))
        #expect(error.stage == "OwnFetcher")
        #expect(events.withLock { $0 } == ["sending", "completed: httpStatus"])
    }

    @Test("A composite may catch a delivered status and go on")
    func caught() async throws {
        gate.open()
        let picture = picture
        let failing = fetcher { url, time in
            HTTPExchange(url: url, status: 503, headers: [:], requestTime: time, responseTime: time, body: [])
        }
        let stage = FirstOf {
            failing
            fetcher { HTTPExchange(url: $0, bytes: picture, at: $1) }
        }
        #expect(try await load(through: stage).source == .network)
        #expect(events.withLock { $0 } == ["sending", "\(picture.count) of \(picture.count)", "completed: network"])
    }

    @Test("A fetcher's own error ends its request")
    func failed() async throws {
        struct Broken: Error {}
        let stage = fetcher { _, _ in throw Broken() }
        let loader = try loader(stage)
        let sent = Gate()
        let response = Task {
            try await loader.load(.url(url)) { event in
                take(event)
                if case .sendingRequest = event { sent.open() }
            }
        }
        try await sent.wait()
        gate.open()
        await #expect(throws: LoadError.self) { try await response.value }
        #expect(events.withLock { $0 } == ["sending", "completed: stageFailed"])
    }
}
