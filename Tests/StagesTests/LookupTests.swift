import Essentials
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

@Suite("Lookup")
struct LookupTests {
    let folder: TemporaryFolder
    let clock = ManualClock(now: Date(timeIntervalSince1970: 1_772_366_400))
    let cache: HTTPCache

    init() throws {
        folder = try TemporaryFolder()
        cache = HTTPCache(folder: folder.path, clock: clock)
    }

    /// Settles the source's identity, as `ResolveIdentifier` does.
    struct Identify: Stage {
        var isIdle = false
        let accepts: Phases = .empty
        let identifies = true
        func run(_ load: inout Load) async throws -> Outcome {
            guard !isIdle, let key = SourceKey(load.request) else { return .skipped }
            load.identify(as: key)
            return .done
        }
    }

    /// Keeps what `Lookup` left on the load.
    struct Observe: Stage {
        let accepts: Phases = .all
        let seen: Lock<Load?>
        func run(_ load: inout Load) async throws -> Outcome {
            let copy = load
            seen.withLock { $0 = copy }
            return .done
        }
    }

    func load(
        _ request: ImageRequest, rules: CacheRules = .asRequested, identifies: Bool = true
    ) async throws -> (load: Load, trace: Trace.Entry) {
        let seen = Lock<Load?>(nil)
        let pipeline = ImagePipeline(clock: clock) {
            Identify(isIdle: !identifies)
            Lookup(cache, rules: rules)
            Observe(seen: seen)
        }
        var trace: Trace
        do {
            trace = try await pipeline.load(request).trace
        } catch let error as LoadError where error.code == .notCached {
            trace = error.trace
        }
        let load = try #require(seen.withLock { $0 })
        return (load, try #require(trace.entries(of: Lookup.self).first))
    }

    func request(
        _ url: String = "http://example.com/a.jpg", identifier: String? = nil, headers: HTTPFields = [:],
        partition: String? = nil, expiry: Expiry = .standard
    ) throws -> ImageRequest {
        ImageRequest(
            ImageSource(try #require(URL(string: url))), identifier: identifier, expiry: expiry, headers: headers,
            partition: partition)
    }

    @discardableResult
    func store(
        _ request: ImageRequest, _ headers: HTTPFields = [.cacheControl: "max-age=60", .contentType: "image/jpeg"],
        status: Int = 200, body: [UInt8] = [1, 2, 3]
    ) async throws -> StoredResponse {
        let exchange = try HTTPExchange.test(
            request: request.headers, status: status, headers, body: body, at: clock.now)
        let key = try #require(SourceKey(request))
        return try #require(await cache.commit(exchange, for: key, expiry: request.expiry))
    }

    @Test("A fresh entry is the load's original, from disk, and its response")
    func hit() async throws {
        let stored = try await store(request())
        clock.advance(by: .seconds(10))
        let (load, trace) = try await load(request())
        guard case .original(let image) = load.content else { throw Unexpected() }
        #expect(image.bytes == [1, 2, 3])
        #expect(image.declaredType == "image/jpeg")
        #expect(load.source == .disk)
        guard case .fresh(let response, let freshness) = load.response else { throw Unexpected() }
        #expect(response.generation == stored.generation)
        #expect(freshness.freshUntil == clock.now + 50)
        #expect(load.storedOriginal?.generation == stored.generation)
        #expect(trace.outcome == .hit)
        #expect(trace.key == .source(try #require(SourceKey(request()))))
        #expect(trace.bytes == 3)
        #expect(try #require(trace.freshness).remaining == .seconds(50))
    }

    @Test("An expired entry is a miss that leaves it as the load's stale response")
    func stale() async throws {
        let stored = try await store(request())
        clock.advance(by: .seconds(100))
        let (load, trace) = try await load(request())
        #expect(load.phase == .empty)
        guard case .stale(let response, let freshness) = load.response else { throw Unexpected() }
        #expect(response.body == [1, 2, 3])
        #expect(response.generation == stored.generation)
        #expect(freshness.mayBeServedWhenUnreachable)
        #expect(load.storedOriginal == nil)
        #expect(trace.outcome == .miss)
        #expect(try #require(trace.freshness).remaining == .seconds(-40))
    }

    @Test("Nothing stored is a miss that says so")
    func miss() async throws {
        let (load, trace) = try await load(request())
        #expect(load.phase == .empty)
        #expect(load.response.stored == nil)
        #expect(trace.outcome == .miss)
        #expect(trace.fact == .notFound(.nothingStored))
    }

    @Test("expireAfter is checked on every lookup; policy off serves whatever its age")
    func expiry() async throws {
        let after = try request(expiry: .after(.seconds(100)))
        try await store(after)
        clock.advance(by: .seconds(99))
        #expect(try await load(after).trace.outcome == .hit)
        #expect(try await load(request(expiry: .after(.seconds(10)))).trace.outcome == .miss)
        clock.advance(by: .seconds(1))
        #expect(try await load(after).trace.outcome == .miss)
        clock.advance(by: .seconds(1e8))
        #expect(try await load(request(expiry: .never)).trace.outcome == .hit)
    }

    @Test("Under HTTP's rules alone the request's expiry says nothing")
    func httpRules() async throws {
        let request = try request(expiry: .after(.seconds(1000)))
        try await store(request)
        clock.advance(by: .seconds(100))
        #expect(try await load(request).trace.outcome == .hit)
        #expect(try await load(request, rules: .http).trace.outcome == .miss)
        #expect(Lookup(cache, rules: .http).parameters == "http rules")
        #expect(Lookup(cache).parameters == "")
    }

    @Test("Two URLs, partitions or Authorizations never share an entry")
    func identities() async throws {
        try await store(request("http://example.com/a.jpg?x=1"))
        #expect(try await load(request("http://example.com/a.jpg?x=1")).trace.outcome == .hit)
        #expect(try await load(request("http://example.com/a.jpg?x=2")).trace.outcome == .miss)
        #expect(try await load(request("https://example.com/a.jpg?x=1")).trace.outcome == .miss)
        #expect(try await load(request("http://example.org/a.jpg?x=1")).trace.outcome == .miss)
        #expect(try await load(request("http://example.com/a.jpg?x=1", partition: "t")).trace.outcome == .miss)
        let authorized: HTTPFields = [.authorization: "Bearer x"]
        #expect(try await load(request("http://example.com/a.jpg?x=1", headers: authorized)).trace.outcome == .miss)
    }

    @Test("With an identifier the key decides, whatever URL it was fetched from")
    func identifier() async throws {
        try await store(request("http://example.com/a.jpg?token=1", identifier: "cat"))
        #expect(try await load(request("http://example.com/a.jpg?token=2", identifier: "cat")).trace.outcome == .hit)
        #expect(try await load(request("http://example.com/a.jpg?token=1")).trace.outcome == .miss)
    }

    @Test("A request with other values of Vary's fields misses")
    func vary() async throws {
        let webp = try request(headers: [.accept: "image/webp"])
        try await store(webp, [.cacheControl: "max-age=60", .vary: "Accept"])
        #expect(try await load(webp).trace.outcome == .hit)
        let (_, trace) = try await load(request(headers: [.accept: "image/png"]))
        #expect(trace.outcome == .miss)
        #expect(trace.fact == .notFound(.otherValues(1)))
    }

    @Test("A stored error isn't an image")
    func storedError() async throws {
        try await store(request(), status: 404)
        let (load, trace) = try await load(request())
        #expect(trace.outcome == .miss)
        #expect(load.response.stored == nil)
        #expect(trace.fact == .notFound(.status(404)))
    }

    @Test("What doesn't come over the network, or has no identity yet, is skipped")
    func skipped() async throws {
        #expect(try await load(ImageRequest(.bytes([1]))).trace.outcome == .skipped)
        #expect(try await load(request(), identifies: false).trace.outcome == .skipped)
    }
}

extension Trace.Entry {
    /// How fresh what was found is.
    fileprivate var freshness: Freshness? { if case .found(let freshness) = fact { freshness } else { nil } }
}
