import FleetServers
import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import TestFixtures

@testable import PipelineShared
@testable import Stages

/// An origin with pictures, and machines that share a tier.
final class FleetSite: Sendable {
    let server: RedisServer
    let origin: ScriptedOrigin

    /// - Parameters:
    ///   - server: The Redis server; by default one on a Unix socket.
    ///   - respond: Returns the origin's response; by default a picture of 64×48 pixels that is fresh for a minute.
    init(
        _ headers: HTTPFields = [.eTag: "\"1\"", .cacheControl: "max-age=60"], over server: RedisServer? = nil,
        respond: (@Sendable (ScriptedOrigin.Request) -> ScriptedOrigin.Reply?)? = nil
    ) throws {
        self.server = try server ?? RedisServer()
        let picture = Picture.png(PixelSize(width: 64, height: 48))
        origin = try ScriptedOrigin { request in
            if let reply = respond?(request) { return reply }
            let isKnown = request.headers[.ifNoneMatch] != nil && request.headers[.ifNoneMatch] == headers[.eTag]
            return isKnown ? .init(status: 304, headers: headers) : .init(headers: headers, body: picture)
        }
    }

    /// An origin that holds back the first response until the gate opens.
    convenience init(holdingTheFirstUntil gate: ScriptedOrigin.Gate) throws {
        let picture = Picture.png(PixelSize(width: 64, height: 48))
        let count = Lock(0)
        try self.init { _ in
            let reply = ScriptedOrigin.Reply(headers: [.cacheControl: "max-age=60"], body: picture)
            return count.withLock {
                $0 += 1; return $0
            } == 1 ? reply.held(until: gate) : reply
        }
    }

    var requests: Int { origin.log.requests.count }

    /// Waits until leases of this many names are waited for.
    func listeners(_ count: Int) async throws { try await server.listeners(count) }

    /// A machine with memory and responses of its own, that has just started.
    func machine(
        leaseLifetime: Duration = .seconds(5), clock: any LoadClock = SystemClock(),
        connecting: RedisLimits = RedisLimits(request: .seconds(10), connecting: .seconds(10)),
        limits: FleetLimits = FleetLimits(), blobs: S3Blobs? = nil, over link: RedisAddress? = nil
    ) -> FleetMachine {
        let events = EventRecorder()
        let fleet = Fleet(
            link ?? server.address, limits: limits, blobs: blobs, connecting: connecting, leaseLifetime: leaseLifetime,
            clock: clock, observers: [events],
            logger: events.logger)
        let resources = PipelineResources(
            memory: MemoryCache(), responses: HTTPCache(inMemory: 10_000_000, clock: clock),
            client: CurlClient(.local))
        return FleetMachine(site: self, fleet: fleet, resources: resources, events: events)
    }
}

/// One machine of a fleet.
struct FleetMachine: Sendable {
    private let site: FleetSite
    let fleet: Fleet
    let resources: PipelineResources
    let events: EventRecorder
    let loader: ImageLoader

    init(site: FleetSite, fleet: Fleet, resources: PipelineResources, events: EventRecorder) {
        (self.site, self.fleet, self.resources, self.events) = (site, fleet, resources, events)
        // The fleet's arrangement edits nothing, so it suits every policy; without it no test of a fleet passes.
        loader = (try? ImageLoader(resources, arrangement: fleet.arrangement)) ?? ImageLoader(resources)
    }

    /// The number of shared responses.
    func entries() async throws -> Int? { try await fleet.store.totals()?.entries }

    func load(_ url: URL) async throws -> ImageResponse { try await loader.load(url) }
}
