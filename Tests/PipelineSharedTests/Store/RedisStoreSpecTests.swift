import FleetServers
import Foundation
import Pipeline
import PipelineTesting
import Testing

@testable import PipelineShared

@Suite("The contract of response stores", .withRedis, .timeLimit(.minutes(5)))
struct RedisStoreSpecTests {
    private let site: SharedSite

    init() throws { site = SharedSite(try RedisServer()) }

    @Test("The store in Redis keeps to it, but for the count of an invalidation and results that are alike")
    func contract() async throws {
        let (site, stores) = (site, Lock(0))
        // The server's clock is half a second behind, so that the responses' times are on both sides of it. It moves on
        // from store to store.
        let seconds = Int64(site.clock.now.timeIntervalSince1970) - 1
        let spec = StoreSpec([.failures, .exactResults], countsInvalidated: false, now: site.clock.now) { limit in
            let number = stores.withLock { count in
                count += 1
                return count
            }
            return site.store(namespace: "store\(number)", limits: FleetLimits(bytes: limit)) { connection in
                let time = "{\(seconds), \(500_000 + 1000 * number)}"
                return RedisScripts.$adaptation.withValue({ $0.replacing("redis.call('TIME')", with: time) }) {
                    RedisScripts(connection)
                }
            }
        }
        try await spec.check()
    }
}
