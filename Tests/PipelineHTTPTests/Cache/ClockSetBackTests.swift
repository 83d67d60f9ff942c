import Essentials
import HTTPTypes
import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineHTTP

@Suite("A clock that is set back loses no invalidation", .inEachStore)
struct ClockSetBackTests: CacheSuite {
    let folder: TemporaryFolder
    let clock = ManualClock(now: Date(timeIntervalSince1970: 1_772_366_400))
    let log = LogRecorder()

    init() throws { folder = try TemporaryFolder() }

    private var url: URL { get throws { try #require(URL(string: "http://example.com/a.jpg")) } }

    @Test(
        "nor one of another process, whether it came before or after the clock was set back", arguments: [true, false])
    func setBack(isBefore: Bool) async throws {
        let (own, other) = (cache(), cache())
        let underWay = try exchange()
        clock.advance(by: .seconds(1))
        if isBefore { await other.remove(url: try url) }
        clock.set(now: clock.now - 100)
        if !isBefore { await other.remove(url: try url) }
        clock.advance(by: .seconds(1))
        #expect(await own.commit(underWay, for: .test()) == nil)
        #expect(await own.commit(try exchange(), for: .test()) != nil)
    }

    @Test("nor one of the same process for a client")
    func client() async throws {
        let clock = clock
        let cache = cache()
        let requests = Counter()
        let origin = try ScriptedOrigin { _ in
            .init(headers: [.cacheControl: "max-age=3600"], body: Array("\(requests.increment())".utf8))
        }
        let url = origin.url("/a")
        let client = CachingClient(
            cache: cache,
            client: Interrupted {
                guard requests.value == 1 else { return }
                clock.set(now: clock.now - 100)
                await cache.remove(url: url)
                clock.advance(by: .seconds(1))
            })
        #expect(try await client.send(CachingRequest(url: url)).text == "1")
        #expect(try await client.send(CachingRequest(url: url)).text == "2")
        #expect(try await client.send(CachingRequest(url: url)).text == "2")
    }

    @Test("A response has the times with which it is found, to a microsecond")
    func timesFound() async throws {
        let cache = cache()
        clock.set(now: Date(timeIntervalSince1970: 1_772_366_400 + 1.3e-7))
        let stored = try #require(await cache.commit(try exchange(), for: .test()))
        guard case .fresh(let found, _) = try await cache.lookup(.test()) else { throw Unexpected() }
        #expect(found.requestTime == stored.requestTime)
        #expect(found.responseTime == stored.responseTime)
        #expect(found.stored == stored.stored)
        #expect(found.freshUntil == stored.freshUntil)
    }

    @Test("A store gets the times of requests and of invalidations to a microsecond, as it gets a response's")
    func timesGiven() async throws {
        let times = Lock<[Date]>([])
        let cache = HTTPCache(store: TimesNoted(times: times), clock: clock)
        for part in stride(from: 0.0, to: 3e-6, by: 1.3e-7) {
            clock.set(now: Date(timeIntervalSince1970: 1_772_366_400 + part))
            times.withLock { $0 = [] }
            let stored = try #require(await cache.commit(try exchange(), for: .test()))
            await cache.remove(url: try url)
            #expect(times.withLock(\.self) == [stored.requestTime, stored.requestTime])
        }
    }

    @Test("Times are compared as they are stored, to a microsecond")
    func microseconds() async throws {
        let cache = cache()
        for part in stride(from: 0.0, to: 3e-6, by: 1.3e-7) {
            clock.set(now: Date(timeIntervalSince1970: 1_772_366_400 + part))
            let same = try exchange()
            #expect(await cache.commit(same, for: .test()) != nil)
            #expect(await cache.commit(same, for: .test()) != nil)
            await cache.evict(.test(), for: [:], askedAt: same.requestTime)
            #expect(try await cache.lookup(.test()).isMiss)
        }
    }
}

/// A client that does something between the request and the response.
private struct Interrupted: TransferClient {
    let client = CurlClient(.local)
    let interrupt: @Sendable () async -> Void

    init(_ interrupt: @escaping @Sendable () async -> Void) { self.interrupt = interrupt }

    func send(_ request: TransferRequest) async throws -> TransferResponse {
        let response = try await client.send(request)
        await interrupt()
        return response
    }

    var urlRule: (@Sendable (URL) -> Bool)? { client.urlRule }

    func shutdown() async { await client.shutdown() }
}

/// A store that stores nothing, and notes the times that it gets.
private struct TimesNoted: ResponseStore {
    let times: Lock<[Date]>

    func find(
        _ key: SourceKey, priority: LoadPriority, choose: @escaping @Sendable ([StoredResponse]) -> StoredResponse?
    ) async throws -> StoreFinding { .nothing(among: 0) }

    func insert(
        _ response: StoredResponse, askedAt time: Date,
        replacing replace: @escaping @Sendable ([StoredResponse]) -> Set<Int64>?
    ) async -> StoreInsertion {
        times.withLock { $0.append(time) }
        return .inserted(1, usedAt: response.stored, replaced: [])
    }

    func invalidate(_ target: String, at time: Date) async -> Int {
        times.withLock { $0.append(time) }
        return 0
    }

    func update(_ response: StoredResponse, if isCurrent: @escaping @Sendable (StoredResponse) -> Bool) async -> Bool? {
        nil
    }

    func remove(_ key: SourceKey, where isMeant: @escaping @Sendable (StoredResponse) -> Bool) async -> [StoredResponse]
    { [] }

    func removeAll(where isMeant: @escaping @Sendable (CacheEntry) -> Bool) async -> Int { 0 }
    func close() async {}
}
