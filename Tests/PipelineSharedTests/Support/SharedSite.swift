import FleetServers
import Foundation
import HTTPTypes
import Pipeline
import PipelineHTTP
import PipelineTesting

@testable import PipelineShared

/// A server, and machines' views of the tier that they share through it.
final class SharedSite: Sendable {
    let server: RedisServer
    let clock = ManualClock(now: Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down)))

    init(_ server: RedisServer) { self.server = server }

    convenience init() throws { self.init(try RedisServer()) }

    /// A machine's store, with a connection of its own.
    func store(
        namespace: String = "test", limits: FleetLimits = FleetLimits(), events: EventRecorder = EventRecorder(),
        database: Int = 0, scripts: (RedisConnection) -> RedisScripts = { RedisScripts($0) }
    ) -> RedisStore {
        var address = server.address
        address.database = database
        let reports = FleetReports(
            server.address, observers: [events], logger: events.logger, clock: SystemClock())
        let connection = RedisConnection(
            address, limits: RedisLimits(request: .seconds(10)), report: { reports.change($0) })
        return RedisStore(
            scripts: scripts(connection), keys: FleetKeys(namespace: namespace), limits: limits, reports: reports)
    }

    /// A machine's shared cache over a store.
    func cache(_ store: RedisStore? = nil) -> HTTPCache {
        HTTPCache(store: store ?? self.store(), isShared: true, clock: clock)
    }

    func exchange(
        _ url: String = "http://example.com/a.jpg", _ headers: HTTPFields = [.cacheControl: "max-age=60"],
        request: HTTPFields = [:], status: Int = 200, body: [UInt8] = Array("body".utf8)
    ) throws -> HTTPExchange {
        guard let url = URL(string: url) else { throw Unexpected() }
        return HTTPExchange(
            url: url, requestHeaders: request, status: status, headers: headers, requestTime: clock.now,
            responseTime: clock.now, body: body)
    }
}

extension SourceKey {
    static func test(_ name: String) -> SourceKey { SourceKey(digest: BLAKE2bDigest(of: name)) }
}
