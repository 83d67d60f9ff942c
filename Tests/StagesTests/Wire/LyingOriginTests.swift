import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

@testable import PipelineHTTP

@Suite("An origin that lies", .timeLimit(.minutes(30)), .inEachStore)
struct LyingOriginTests {
    /// How many loads there are in each store; `SOAK_LOADS` in the environment sets it, 300 otherwise.
    private static let loads = ProcessInfo.processInfo.environment["SOAK_LOADS"].flatMap { Int($0) } ?? 300

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(inMemory: true) }

    private var options: CurlClient.Options {
        var options = CurlClient.Options(addresses: .any)
        options.connectTimeout = .seconds(60)
        // Real times: what is late is an error, which is always allowed.
        options.stallTimeout = .milliseconds(300)
        options.totalTimeout = .seconds(1)
        options.maximumBodyBytes = 100_000
        return options
    }

    @Test(
        """
        Loads and requests get and store whole contents of their own addresses or an error, directly and by a proxy, \
        whatever comes over the wire
        """, arguments: [false, true])
    func wholeContentsOrErrors(byProxy: Bool) async throws {
        let seed = ProcessInfo.processInfo.environment["SOAK_SEED"].flatMap { UInt64($0) } ?? 1
        let liar = try LyingOrigin(seed: seed)
        var options = options
        if byProxy { options.proxy = URL(string: "http://127.0.0.1:\(liar.origin.port)") }
        let clock = ManualClock()
        let cache = HTTPCache.test(folder.path + "/cache", clock: clock)
        let hosts = byProxy ? ["a.example", "b.example"] : ["127.0.0.1:\(liar.origin.port)"]
        let urls = hosts.flatMap { host in (0..<12 / hosts.count).compactMap { URL(string: "http://\(host)/p\($0)") } }
        let loads = LyingLoads(urls: urls, cache: cache, client: CurlClient(options), clock: clock)
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<6 {
                group.addTask {
                    var random = SeededGenerator(seed: seed &+ UInt64(worker))
                    for _ in 0..<Self.loads / 12 { await loads.load(&random) }
                }
            }
        }
        await loads.checkCache()
        for problem in loads.problems.prefix(10) { Issue.record("\(problem)") }
        // Else nothing was tried.
        #expect(loads.delivered > Self.loads / 24)
        #expect(liar.lies.count >= min(30, Self.loads / 10))
        await loads.shutdown()
    }
}
