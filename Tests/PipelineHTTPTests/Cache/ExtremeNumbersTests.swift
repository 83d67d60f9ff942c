import Essentials
import LibC
import HTTPTypes
import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineHTTP

@Suite("Numbers from outside that are as large as numbers get")
struct ExtremeNumbersTests: CacheSuite {
    let folder: TemporaryFolder
    let clock = ManualClock(now: Date(timeIntervalSince1970: 1_772_366_400))
    let log = LogRecorder()

    private static let durations: [Duration] = [
        Duration(attoseconds: .max), Duration(attoseconds: .min), .seconds(Int64.max), .seconds(Int64.min), .zero,
        .seconds(1e18),
    ]
    private static let limits = [Int.max, .min, -1, 0, 1]

    init() throws { folder = try TemporaryFolder() }

    @Test("Times in fields and lifetimes of callers: each is judged", arguments: durations)
    func freshness(duration: Duration) async throws {
        let dates = ["Fri, 31 Dec 9999 23:59:60 GMT", "Sat, 01 Jan 0000 00:00:00 GMT", "Thu, 01 Jan 1970 00:00:00 GMT"]
        let number = String(repeating: "9", count: 40)
        for (index, date) in dates.enumerated() {
            let fields: HTTPFields = [
                .date: date, .lastModified: dates[2 - index], .expires: date, .age: number,
                .cacheControl: index == 1
                    ? "" : "max-age=\(number), stale-while-revalidate=\(number), stale-if-error=\(number)",
                .retryAfter: index == 0 ? number : date,
            ]
            _ = RetryAfter.delay(in: fields, now: clock.now)
            _ = Validators.strong(in: fields, now: clock.now)
            let exchange = try exchange(fields)
            for expiry in [Expiry.after(duration), .server(otherwise: duration), .never] {
                let cache = cache(path + "\(index)")
                _ = await cache.commit(exchange, for: .test(), expiry: expiry)
                let wishes: [HTTPFields] = [
                    [:], [.cacheControl: "max-age=\(number), min-fresh=\(number), max-stale=\(number)"],
                ]
                for wish in wishes {
                    let freshness = try await cache.lookup(.test(), headers: wish, expiry: expiry).freshness
                    _ = freshness.map { "\($0) \($0.ageField) \(String(describing: $0.freshUntil))" }
                }
                if let stored = try await cache.lookup(.test()).response {
                    _ = cache.policy.validity(of: stored)
                    _ = try await cache.freshen(
                        stored, with: fields, requestTime: .distantPast, responseTime: .distantFuture, expiry: expiry)
                }
                await cache.close()
            }
        }
    }

    @Test("Ages by which a clean-up removes", arguments: durations)
    func cleanUp(duration: Duration) async throws {
        let cache = cache()
        _ = try await store(cache)
        await cache.cleanUp(.unused(duration))
        await cache.cleanUp(.stored(duration))
        #expect(try await cache.statistics() != nil)
    }

    @Test("Bounds of a cache", arguments: limits)
    func bounds(limit: Int) async throws {
        let cache = cache(byteLimit: limit)
        let stored = try await store(cache)
        _ = try await store(cache, "b", length: 100_000)
        _ = try await cache.lookup(.test())
        await cache.cleanUp()
        #expect((stored != nil) == (limit == .max))
        let few = self.cache(path + "2", entryLimit: limit)
        _ = try await store(few)
        #expect(try #require(try await few.statistics()).entries <= max(0, limit))
        #expect(log.warnings == [])
    }

    @Test("Pages of entries", arguments: limits)
    func pages(limit: Int) async throws {
        let cache = cache()
        for name in ["a", "b"] { _ = try await store(cache, name) }
        for after in [Int64.min, -1, 0, .max] {
            let found = try await cache.entries(after: after, limit: limit)
            #expect(found.count == (after == .max ? 0 : min(max(0, limit), 2)))
        }
    }

    @Test("Times as texts and as libcurl takes them", arguments: durations)
    func times(duration: Duration) {
        #expect(!duration.millisecondsText.isEmpty)
        #expect((1...Int(Int32.max)).contains(duration.wholeMilliseconds))
        let box = PixelSize(width: .max, height: 1)
        #expect(PixelSize(width: .max, height: 2).fitted(into: box).height == 1)
    }

    @Test("A file that says it is longer than the memory is read to its limit", arguments: [1000, -1, Int.min])
    func sparseFile(limit: Int) throws {
        let file = folder.path + "/sparse"
        #expect(FileManager.default.createFile(atPath: file, contents: nil) && truncate(file, 1 << 42) == 0)
        #expect(throws: LoadError.self) { try ReadFile.read(file, limit: limit, WorkCancellation()) }
    }
}
