import CSQLite
import Essentials
import HTTPTypes
import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineHTTP

@Suite("What strangers can make a cache keep is bounded")
struct ResponseBoundsTests: CacheSuite {
    let folder: TemporaryFolder
    let clock = ManualClock(now: Date(timeIntervalSince1970: 1_772_366_400))
    let log = LogRecorder()

    init() throws { folder = try TemporaryFolder() }

    // MARK: Failures

    private func number(_ cache: HTTPCache, _ query: String) -> Int64? {
        cache.database.read { try $0.first(query) { $0.integer(0) } }.flatMap(\.self)
    }

    /// Remembers failures of other sources, all of the last second.
    private func addFailures(_ count: Int, _ cache: HTTPCache) {
        _ = cache.database.write { transaction in
            try transaction.database.execute(
                """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
                INSERT INTO failures SELECT randomblob(32), 404, 1, \(clock.now.microseconds) - 1000000 + i FROM n
                """)
        }
    }

    @Test("Failures are remembered up to a number; the oldest are forgotten")
    func failures() async throws {
        let cache = cache()
        addFailures(20_000, cache)
        #expect(await cache.recordFailure(status: 404, of: .test("a"))?.attempts == 1)
        #expect(try #require(number(cache, "SELECT count(*) FROM failures")) <= 10_000)
        #expect(try await cache.failures(of: .test("a"))?.attempts == 1)
        let oldest = try #require(number(cache, "SELECT min(latest) FROM failures"))
        #expect(oldest > clock.now.microseconds - 1_000_000 + 9_000)
    }

    @Test("However many failures are remembered, no image has to go for them")
    func failuresEvictNothing() async throws {
        let cache = cache(byteLimit: 4_000_000)
        for index in 0..<100 { _ = try await store(cache, "\(index)", length: 20_000) }
        addFailures(80_000, cache)
        _ = try await store(cache, "new", length: 20_000)
        let left = try #require(number(cache, "SELECT count(*) FROM failures"))
        #expect(try await cache.statistics()?.entries == 101, "\(left) failures, \(cache.bounds)")
        #expect(left <= 500)
        await cache.recordFailure(status: 404, of: .test("b"))
        #expect(try await cache.failures(of: .test("b"))?.attempts == 1)
        _ = try await store(cache, "newer", length: 20_000)
        #expect(try await cache.failures(of: .test("b"))?.attempts == 1)
    }

    // MARK: Invalidations

    @Test(
        "What became invalid is noted up to a number; of what was asked for before all that is noted, nothing is stored"
    )
    func invalidations() async throws {
        let cache = cache()
        let start = clock.now
        _ = cache.database.write { transaction in
            try transaction.database.execute(
                """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)
                INSERT INTO invalidations SELECT i, \(start.microseconds) + i FROM n
                """)
        }
        clock.advance(by: .seconds(1))
        await cache.remove(url: try #require(URL(string: "http://example.com/b.jpg")))
        #expect(number(cache, "SELECT count(*) FROM invalidations") == 10_000)
        let early = try HTTPExchange.test(at: start)
        #expect(await cache.commit(early, for: .test("a")) == nil)
        #expect(await cache.commit(try exchange(), for: .test("a")) != nil)
    }

    // MARK: Vary

    private func storeVariant(_ index: Int, _ cache: HTTPCache) async throws {
        _ = await cache.commit(
            try exchange(
                [.cacheControl: "max-age=60", .vary: "Accept-Language"], request: [.acceptLanguage: "x-\(index)"],
                body: [UInt8(truncatingIfNeeded: index)]), for: .test())
    }

    @Test("One source has up to a limit of responses for different values of Vary's fields; the least used go")
    func varyingRows() async throws {
        let cache = cache()
        for index in 0..<64 { try await storeVariant(index, cache) }
        #expect(try await cache.lookup(.test(), headers: [.acceptLanguage: "x-0"]).isFresh)
        for index in 64..<100 { try await storeVariant(index, cache) }
        #expect(try await cache.statistics()?.entries == 64)
        #expect(try await cache.lookup(.test(), headers: [.acceptLanguage: "x-0"]).response?.body == [0])
        #expect(try await cache.lookup(.test(), headers: [.acceptLanguage: "x-99"]).response?.body == [99])
        #expect(try await cache.lookup(.test(), headers: [.acceptLanguage: "x-1"]).isMiss)
    }

    @Test("Neither a lookup nor a store reads more rows where another program left thousands for one source")
    func rowsRead() async throws {
        let cache = cache()
        for index in 0..<10 { try await storeVariant(index, cache) }
        func cost() async throws -> (lookup: Int, store: Int) {
            let reader = try #require(cache.database.read { $0 })
            let writer = try #require(cache.database.write { $0.database })
            let counter = Counter()
            let counters = [count(reader, counter), count(writer, counter)]
            defer { counters.forEach { $0() } }
            #expect(try await cache.lookup(.test(), headers: [.acceptLanguage: "x-9"]).isFresh)
            let lookup = counter.value
            try await storeVariant(9, cache)
            return (lookup, counter.value - lookup)
        }
        let few = try await cost()
        _ = cache.database.write { transaction in
            try transaction.database.execute(
                """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
                INSERT INTO responses SELECT generation - 1000 - i, source, target, target_hash, status, fields,
                    selecting || x'0000000000', request_time, response_time - i, stored, accessed - i, expires,
                    fresh_until, size, body_length, body_checksum, body_file FROM n, responses
                    WHERE generation = (SELECT max(generation) FROM responses)
                """)
        }
        let many = try await cost()
        #expect(many.lookup <= few.lookup + 130)
        _ = try await cost()
        let after = try await cost()
        #expect(after.lookup <= few.lookup + 130)
        #expect(after.store <= few.store + 130)
        #expect(try #require(try await cache.statistics()).entries <= 64)
    }

    /// Counts the rows that a connection gives, until what this returns is called.
    private func count(_ database: SQLiteDatabase, _ counter: Counter) -> () -> Void {
        let context = Unmanaged.passRetained(counter)
        sqlite3_trace_v2(
            database.connection, UInt32(SQLITE_TRACE_ROW),
            { _, context, _, _ in
                context.map { _ = Unmanaged<Counter>.fromOpaque($0).takeUnretainedValue().increment() }
                return 0
            }, context.toOpaque())
        return {
            sqlite3_trace_v2(database.connection, 0, nil, nil)
            context.release()
        }
    }

    // MARK: Work that ends

    @Test(
        "Removing everything and cleaning up end though something new is stored for all that goes",
        .timeLimit(.minutes(5)))
    func steadyLoad() async throws {
        let cache = cache(entryLimit: 300)
        for index in 0..<300 { _ = try await store(cache, "\(index)") }
        // As others would that store without pause.
        _ = cache.database.write { transaction in
            try transaction.database.execute(
                """
                CREATE TRIGGER refill AFTER DELETE ON responses BEGIN
                    INSERT INTO responses SELECT (SELECT generation + 1 FROM totals), old.source, old.target,
                        old.target_hash, 200, old.fields, old.selecting, 0, 0, 0, 0, 0, 0, 400, 100, 0, NULL, NULL;
                END
                """)
        }
        #expect(await cache.removeAll() == 300)
        #expect(await cache.cleanUp() > 0)
        _ = try await store(cache, "new")
        #expect(try await cache.verify().entries > 0)
        _ = try await cache.repair()
        await cache.close()
    }
}
