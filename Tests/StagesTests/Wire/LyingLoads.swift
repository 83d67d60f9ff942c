import Essentials
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures

@testable import PipelineHTTP

/// Loads from a ``LyingOrigin`` by a list and by a client, over one cache, and what was wrong with what they got.
final class LyingLoads: Sendable {
    private struct State {
        var problems: [String] = []
        var delivered = 0
    }

    private let urls: [URL]
    private let cache: HTTPCache
    private let client: CurlClient
    private let caching: CachingClient
    private let clock: ManualClock
    private let pipeline: ImagePipeline
    private let flights = Flights()
    private let state: Lock<State>

    init(urls: [URL], cache: HTTPCache, client: CurlClient, clock: ManualClock) {
        self.urls = urls
        self.cache = cache
        self.client = client
        self.clock = clock
        caching = CachingClient(cache: cache, client: client)
        let state = Lock(State())
        self.state = state
        pipeline = ImagePipeline(clock: clock) { [flights] in
            ResolveIdentifier()
            Lookup(cache)
            RefreshStale(flights) {
                StaleFirst {
                    StaleIfError {
                        Coalesce(flights, by: .source) {
                            Lease(cache) {
                                Retry(attempts: 3, initialDelay: .zero) { Fetch(client) }
                            }
                        }
                    }
                    StubStage("Decode", accepts: .original, produces: .decoded) { load in
                        guard case .original(let image) = load.content, case .url(let url) = load.request.source else {
                            return .skipped
                        }
                        guard !image.bytes.isEmpty else { throw LoadError(.undecodable, subject: "", "Nothing came.") }
                        Self.check(image.bytes, url, "delivered by a list", state)
                        load.advance(to: .decoded(.filled(1)))
                        return .done
                    }
                }
                Store(nil, cache)
            }
        }
    }

    var problems: [String] { state.withLock { $0.problems } }
    var delivered: Int { state.withLock { $0.delivered } }

    /// Loads one address in one of the two ways. Any error is allowed.
    func load(_ random: inout SeededGenerator) async {
        guard let url = urls.randomElement(using: &random) else { return }
        clock.advance(by: .milliseconds(Int.random(in: 0..<1500, using: &random)))
        let byList = Bool.random(using: &random)
        let task = Task {
            if byList { _ = try await pipeline.load(ImageRequest(url)) } else { try await send(url) }
        }
        if Int.random(in: 0..<15, using: &random) == 0 { task.cancel() }
        do {
            try await task.value
            state.withLock { $0.delivered += 1 }
        } catch {
            if !(error is LoadError || error is CancellationError) { note("\(url): \(error)") }
        }
    }

    private func send(_ url: URL) async throws {
        let response = try await caching.send(CachingRequest(url: url))
        switch response.status {
        case 200:
            Self.check(response.body, url, "delivered by the client", state)
            let label = HTTPField.Name("X-Label").flatMap { response.headers[$0] }
            if label != Self.label(url) { note("\(url) has the fields of \(label ?? "nothing")") }
        // A part that nobody asked for is passed on as it is.
        case 206: break
        default: if !response.body.isEmpty { note("\(url) has content with \(response.status)") }
        }
    }

    /// Looks at all that is stored in the end.
    func checkCache() async {
        await flights.drain()
        await caching.drain()
        for url in urls {
            guard let key = SourceKey(ImageRequest(url)) else { continue }
            switch try? await cache.lookup(key) {
            case .fresh(let stored, _), .stale(let stored, _):
                if stored.status == 200 { Self.check(stored.body, url, "stored", state) }
                if stored.status == 206 || stored.status == 304 { note("\(url) is stored with \(stored.status)") }
            default: break
            }
        }
    }

    func shutdown() async {
        await client.shutdown()
        await cache.close()
    }

    private func note(_ problem: String) { state.withLock { $0.problems.append(problem) } }

    private static func check(_ bytes: [UInt8], _ url: URL, _ what: String, _ state: Lock<State>) {
        guard let problem = DescribedContent.problem(bytes, label(url)) else { return }
        state.withLock { $0.problems.append("\(what): \(problem)") }
    }

    private static func label(_ url: URL) -> String { "\(url.host() ?? "")/\(url.lastPathComponent)" }
}
