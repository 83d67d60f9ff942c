import CSQLite
import Essentials
import HTTPTypes
import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineHTTP

@Suite("A database in which anything may stand")
struct HostileRowsTests: CacheSuite {
    let folder: TemporaryFolder
    let clock = ManualClock(now: Date(timeIntervalSince1970: 1_772_366_400))
    let log = LogRecorder()

    init() throws { folder = try TemporaryFolder() }

    private static let columns = [
        "responses": [
            "generation", "source", "target", "target_hash", "status", "fields", "selecting", "request_time",
            "response_time", "stored", "accessed", "expires", "fresh_until", "size", "body_length", "body_checksum",
            "body_file", "redirects",
        ], "invalidations": ["target_hash", "time"],
        "bodies": ["generation", "bytes"], "failures": ["source", "status", "attempts", "latest"],
        "totals": ["entries", "bytes", "files", "file_bytes", "generation"],
        "variants": [
            "generation", "variant", "type", "width", "height", "native_width", "native_height", "checksum", "bytes",
        ],
    ]

    private static let values = [
        "-9223372036854775808", "9223372036854775807", "4611686018427387904", "-1", "0", "9e999", "-9e999", "1e18",
        "'text'", "x''", "x'ffffffff'", "zeroblob(100000)", "NULL",
    ]

    @Test(
        "No value in any column ends the process or the work, and after a repair the cache stores again",
        arguments: [
            "responses", "bodies", "failures", "totals", "variants", "invalidations",
        ])
    func anyValue(table: String) async throws {
        for column in Self.columns[table] ?? [] {
            for (index, value) in Self.values.enumerated() {
                let place = path + "-\(column)-\(index)"
                try await tryAll(
                    cache(place, byteLimit: 4_000_000), "UPDATE OR IGNORE \(table) SET \(column) = \(value)")
                TemporaryFolder.remove(place)
            }
        }
    }

    @Test("No missing row does either", arguments: ["responses", "bodies", "failures", "totals", "variants"])
    func missing(table: String) async throws {
        try await tryAll(cache(), "DELETE FROM \(table)")
    }

    /// Puts something into a cache, changes it, uses the cache in every way, repairs it, and uses it again.
    private func tryAll(_ cache: HTTPCache, _ change: String) async throws {
        for name in ["a", "b"] { _ = try await store(cache, name) }
        _ = try await store(cache, "c", length: 100_000)
        await cache.recordFailure(status: 503, of: .test("d"))
        await cache.remove(url: try #require(URL(string: "http://example.com/gone.jpg")))
        let stored = try #require(try await cache.lookup(.test("a")).response)
        let key = try VariantKey.test(of: .test("a"))
        let image = EncodedImage(bytes: [1, 2, 3], declaredType: "image/webp", size: 1, nativeSize: 1)
        await cache.keep(image, as: key, of: stored.generation)
        _ = cache.database.write { try? $0.database.execute(change) }

        for _ in 0..<2 {
            for name in ["a", "b", "c", "d"] {
                guard let found = try await cache.lookup(.test(name)).response else { continue }
                use(found, cache)
                _ = try await cache.freshen(found, with: [.age: "1"], requestTime: clock.now, responseTime: clock.now)
            }
            _ = try await cache.failures(of: .test("d"))
            await cache.recordFailure(status: 503, of: .test("d"))
            if let size = try await cache.variant(key, of: stored.generation, priority: .normal)?.size {
                #expect(!size.width.multipliedReportingOverflow(by: size.height).overflow)
            }
            await cache.keep(image, as: key, of: stored.generation)
            _ = try await store(cache, "a")
            _ = try await store(cache, "e", length: 100_000)
            cache.touch(stored.generation)
            for entry in try await cache.entries(limit: 2) { _ = "\(entry)" }
            for after in [Int64.min, .max] {
                _ = try await cache.entries(after: after, limit: after == .max ? -1 : .max)
            }
            _ = try await cache.statistics()
            _ = try await cache.verify()
            await cache.cleanUp()
            await cache.cleanUp(.unused(.seconds(1)))
            await cache.remove(url: try #require(URL(string: "http://example.com/a.jpg")))
        }
        let repaired = try await cache.repair()
        #expect(repaired.isSound, "\(change): \(repaired.findings)")
        // What was wrong in a way that only a store meets is repaired by one.
        _ = try await store(cache, "f")
        #expect(try await store(cache, "f") != nil, "\(change)")
        #expect(try await cache.lookup(.test("f")).isFresh, "\(change)")
        await cache.removeAll()
        #expect(try await cache.statistics()?.entries == 0, "\(change)")
        await cache.close()
    }

    /// Judges a response in every way that a load does.
    private func use(_ stored: StoredResponse, _ cache: HTTPCache) {
        for expiry in [Expiry.standard, .never, .after(.seconds(1)), .server(otherwise: .zero)] {
            for rules in [CacheRules.asRequested, .http] {
                let freshness = Freshness(of: stored, for: [:], now: clock.now, expiry: expiry, rules: rules)
                _ = "\(freshness) \(freshness.ageField) \(String(describing: freshness.freshUntil))"
                _ = HTTPDate.format(freshness.freshUntil ?? clock.now)
            }
        }
        _ = cache.policy.validity(of: stored)
        _ = Validators.conditions(for: stored.headers)
    }
}
