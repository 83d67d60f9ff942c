import PipelineTesting
import Foundation
import HTTPTypes
import Stages

/// Stores without end, four at a time, and says what it has stored: the process that is killed.
enum Writing {
    static let byteLimit = 16_000_000

    static func run(folder: String, round: Int) async throws {
        let cache = TrialCache(folder, byteLimit: byteLimit).cache
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask { try await write(to: cache, writer: writer, round: round) }
            }
            try await group.waitForAll()
        }
    }

    private static func write(to cache: HTTPCache, writer: Int, round: Int) async throws {
        var random = SeededGenerator(seed: UInt64(round * 4 + writer))
        for number in 0... {
            let name = "\(writer)-\(Int.random(in: 0..<100, using: &random))"
            let body = TrialBody(name, version: round * 1_000_000 + number * 4 + writer)
            let now = Date()
            let exchange = HTTPExchange(
                url: try TrialCache.url(name), status: 200, headers: [.cacheControl: "max-age=86400"],
                requestTime: now, responseTime: now, body: body.bytes)
            if await cache.commit(exchange, for: try TrialCache.key(name)) != nil {
                Child.tell("\(name) \(body.version)")
            }
            // Nothing is so old: it gives back free pages and looks for orphans, while others write.
            if number % 20 == 19 { await cache.cleanUp(.unused(.seconds(86_400))) }
        }
    }
}
