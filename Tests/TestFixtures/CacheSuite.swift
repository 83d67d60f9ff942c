import Essentials
package import HTTPTypes
package import Pipeline
package import PipelineHTTP
package import PipelineTesting

/// A suite whose tests have a cache each, in a folder of its own, under a clock that stands still.
package protocol CacheSuite: Sendable {
    var folder: TemporaryFolder { get }
    var clock: ManualClock { get }
    var log: LogRecorder { get }
}

extension CacheSuite {
    /// Where the cache lies.
    package var path: String { folder.path + "/cache" }

    /// The names of the body files.
    package var bodyFiles: [String] { TemporaryFolder.names(path + "/bodies") }

    package func cache(_ path: String? = nil, byteLimit: Int = 1_000_000_000, entryLimit: Int? = nil) -> HTTPCache {
        .test(
            path ?? self.path, byteLimit: byteLimit, entryLimit: entryLimit, clock: clock, logger: log.logger)
    }

    /// Stores something under a name.
    package func store(_ cache: HTTPCache, _ name: String = "a", length: Int = 100) async throws -> StoredResponse? {
        await cache.commit(try exchange(body: bytes(length)), for: .test(name))
    }

    package func exchange(
        _ headers: HTTPFields = [.cacheControl: "max-age=60"], url: String = "http://example.com/a.jpg",
        request: HTTPFields = [:], status: Int = 200, body: [UInt8] = Array("body".utf8)
    ) throws -> HTTPExchange {
        try .test(url, request: request, status: status, headers, body: body, at: clock.now)
    }

    /// A body that differs from those of other lengths and seeds.
    package func bytes(_ count: Int, seed: Int = 1) -> [UInt8] {
        var bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: count), count: count)
        for index in stride(from: 0, to: count, by: 509) { bytes[index] = UInt8(truncatingIfNeeded: index &+ seed) }
        return bytes
    }

    /// Which of the test's sources are stored, without using them.
    package func present(_ cache: HTTPCache) async throws -> [String] {
        let keys = Set(try await cache.entries().map(\.key))
        return ["a", "b", "c", "d", "e"].filter { keys.contains(.test($0)) }
    }
}

/// Something else came than the test is about.
package struct Unexpected: Error {
    package init() {}
}
