import Foundation
import HTTPTypes
import Pipeline
import Stages

/// Fills a cache with numbered bodies.
enum DiskFilling {
    static func key(_ number: Int) throws -> SourceKey {
        guard let key = SourceKey(ImageRequest(try url(number))) else { throw DiskLookups.Unexpected() }
        return key
    }

    static func url(_ number: Int) throws -> URL {
        guard let url = URL(string: "https://images.example.com/\(number).jpg") else { throw DiskLookups.Unexpected() }
        return url
    }

    static func body(_ number: Int, bytes: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: bytes)
    }

    /// Stores many bodies concurrently, so that they share transactions.
    static func fill(_ cache: HTTPCache, _ numbers: Range<Int>, bytes: Int) async throws {
        let width = min(256, numbers.count)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for start in 0..<width {
                group.addTask {
                    for number in stride(from: numbers.lowerBound + start, to: numbers.upperBound, by: width) {
                        let now = Date()
                        let exchange = HTTPExchange(
                            url: try url(number), status: 200,
                            headers: [
                                .cacheControl: "max-age=86400", .contentType: "image/jpeg", .eTag: "\"\(number)\"",
                            ],
                            requestTime: now, responseTime: now, body: body(number, bytes: bytes))
                        guard await cache.commit(exchange, for: try key(number)) != nil else {
                            throw DiskLookups.Unexpected()
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
