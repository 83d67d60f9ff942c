import FleetServers
import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineShared
@testable import Stages

@Suite("Machines that share a tier", .withRedis, .timeLimit(.minutes(5)))
struct FleetTests {
    @Test("one fetches, and the others get its response")
    func sharing() async throws {
        let site = try FleetSite()
        let (first, second) = (site.machine(), site.machine())
        let url = site.origin.url("/cat.png")
        #expect(try await first.load(url).source == .network)
        let found = try await second.load(url)
        #expect(found.source == .shared)
        #expect(found.image.size == PixelSize(width: 64, height: 48))
        #expect(site.requests == 1)
        // Each keeps it.
        #expect(try await second.load(url).source == .memory)
        second.resources.memory.reset()
        #expect(try await second.load(url).source == .disk)
        #expect(second.events.events.contains(.lookedUp(isHit: true)))
    }

    @Test("one request is sent for many concurrent loads of all machines, in several sizes")
    func singleFlight() async throws {
        let gate = try ScriptedOrigin.Gate()
        let picture = Picture.png(PixelSize(width: 64, height: 48))
        let site = try FleetSite { _ in .init(headers: [.cacheControl: "max-age=60"], body: picture).held(until: gate) }
        let machines = (0..<4).map { _ in site.machine() }
        let sizes = try await withThrowingTaskGroup { group in
            for machine in machines {
                for side in [16, 32, 48, 64] {
                    group.addTask {
                        try await machine.loader.load(
                            site.origin.url("/cat.png"),
                            options: LoadOptions(maxPixelSize: PixelSize(width: side, height: side))
                        ).image.size.width
                    }
                }
            }
            await site.origin.until { $0.requests.count == 1 }
            gate.open()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(sizes.sorted() == [16, 16, 16, 16, 32, 32, 32, 32, 48, 48, 48, 48, 64, 64, 64, 64])
        #expect(site.requests == 1)
    }

    @Test("a stale response is confirmed once, and then fresh for all")
    func confirming() async throws {
        let site = try FleetSite()
        let clock = ManualClock(now: Date())
        let (first, second, third) = (
            site.machine(clock: clock), site.machine(clock: clock), site.machine(clock: clock)
        )
        let url = site.origin.url("/cat.png")
        _ = try await first.load(url)
        clock.advance(by: .seconds(100))
        #expect(try await second.load(url).source == .revalidated)
        #expect(site.requests == 2)
        #expect(site.origin.log.requests.last?.headers[.ifNoneMatch] == "\"1\"")
        #expect(try await third.load(url).source == .shared)
        #expect(try await second.load(url).source == .memory)
        // The first machine's own response is stale; the shared one is newer.
        #expect(try await first.load(url).source == .shared)
        #expect(site.requests == 2)
    }

    @Test("this machine's own response that is confirmed is shared")
    func ownConfirmed() async throws {
        let site = try FleetSite()
        let clock = ManualClock(now: Date())
        let (first, second) = (site.machine(clock: clock), site.machine(clock: clock))
        let url = site.origin.url("/cat.png")
        _ = try await first.load(url)
        _ = try await first.fleet.store.scripts.connection.send("FLUSHALL")
        clock.advance(by: .seconds(100))
        #expect(try await first.load(url).source == .revalidated)
        #expect(try await second.load(url).source == .shared)
    }

    @Test("a list shares as long as it exists, whether or not somebody holds the fleet")
    func listAlone() async throws {
        let site = try FleetSite()
        func list() -> ImagePipeline {
            let resources = PipelineResources(
                memory: MemoryCache(), responses: HTTPCache(inMemory: 10_000_000),
                client: CurlClient(.local))
            let limits = RedisLimits(request: .seconds(10), connecting: .seconds(10))
            return .returnCacheElseLoad(resources).sharing(Fleet(site.server.address, connecting: limits))
        }
        let request = ImageRequest(site.origin.url("/cat.png"))
        #expect(try await list().load(request).source == .network)
        #expect(try await list().load(request).source == .shared)
        #expect(site.requests == 1)
    }

    @Test("a redirect is shared with its target")
    func redirects() async throws {
        let picture = Picture.png(PixelSize(width: 64, height: 48))
        let site = try FleetSite { request in
            request.path == "/old"
                ? .init(status: 301, headers: [.location: "/new", .cacheControl: "max-age=60"])
                : .init(headers: [.cacheControl: "max-age=60"], body: picture)
        }
        #expect(try await site.machine().load(site.origin.url("/old")).source == .network)
        #expect(try await site.machine().load(site.origin.url("/old")).source == .shared)
        #expect(try await site.machine().load(site.origin.url("/new")).source == .shared)
        #expect(site.requests == 2)
    }

    @Test("a redirect that may not be shared is asked for by each machine, and leads to what is shared")
    func unsharedRedirect() async throws {
        let picture = Picture.png(PixelSize(width: 64, height: 48))
        let site = try FleetSite { request in
            request.path == "/old"
                ? .init(status: 302, headers: [.location: "/new", .cacheControl: "no-store"])
                : .init(headers: [.cacheControl: "max-age=600"], body: picture)
        }
        #expect(try await site.machine().load(site.origin.url("/old")).source == .network)
        #expect(try await site.machine().load(site.origin.url("/old")).source == .shared)
        #expect(try await site.machine().load(site.origin.url("/new")).source == .shared)
        #expect(site.origin.log.requests.map(\.path) == ["/old", "/new", "/old"])
    }

    @Test("machines that follow a redirect at the same time ask for each hop once")
    func leasedRedirect() async throws {
        let gate = try ScriptedOrigin.Gate()
        let picture = Picture.png(PixelSize(width: 64, height: 48))
        let site = try FleetSite { request in
            request.path == "/old"
                ? .init(status: 302, headers: [.location: "/new", .cacheControl: "max-age=60"]).held(until: gate)
                : .init(headers: [.cacheControl: "max-age=600"], body: picture)
        }
        let machines = (0..<4).map { _ in site.machine() }
        try await withThrowingTaskGroup { group in
            for machine in machines {
                group.addTask { _ = try await machine.load(site.origin.url("/old")) }
            }
            await site.origin.until { !$0.requests.isEmpty }
            gate.open()
            try await group.waitForAll()
        }
        #expect(site.origin.log.requests.map(\.path).sorted() == ["/new", "/old"])
    }

    @Test("a newer response that is too large to be shared leaves no older one")
    func tooLargeToShare() async throws {
        let body = Lock(Picture.png(PixelSize(width: 64, height: 48)))
        let site = try FleetSite { _ in .init(headers: [.cacheControl: "max-age=60"], body: body.withLock(\.self)) }
        let clock = ManualClock(now: Date())
        let machine = site.machine(clock: clock)
        let url = site.origin.url("/cat.png")
        _ = try await machine.load(url)
        #expect(try await machine.entries() == 1)
        clock.advance(by: .seconds(100))
        body.withLock {
            $0 = Picture.png(PixelSize(width: 32, height: 24)) + [UInt8](repeating: 0, count: FleetLimits().bytes)
        }
        _ = try await machine.load(url)
        #expect(try await machine.entries() == 0)
        // A client that takes what is stale isn't given the older one.
        let newer = try await site.machine(clock: clock).loader.load(
            url, options: LoadOptions(headers: [.cacheControl: "max-stale=1000"]))
        #expect(newer.source == .network)
        #expect(newer.image.size == PixelSize(width: 32, height: 24))
    }

    /// A fetcher of one's own, which says that it asks the origin, and which nothing else shows as one.
    private struct OwnFetch: Stage {
        let accepts: Phases = .empty
        let produces: Phases = [.empty, .original]
        let leaves: Set<ResponseState.Kind> = []
        let asksOrigin = true
        let asked: @Sendable () -> Void

        func run(_ load: inout Load) async throws -> Outcome {
            asked()
            let picture = EncodedImage(bytes: Picture.png(PixelSize(width: 64, height: 48)))
            load.advance(to: .original(picture), from: .network)
            return .done
        }
    }

    @Test("a guard before the origin stands before a fetcher of one's own, and behind the shared tier")
    func guardedFetcher() async throws {
        let site = try FleetSite()
        let machine = site.machine()
        _ = try await machine.load(site.origin.url("/shared.png"))
        let asked = Lock(0)
        let (fleet, resources) = (site.machine().fleet, site.machine().resources)
        let loader = try ImageLoader(resources) { policy, resources in
            fleet.arrangement(policy, resources)
                .replacing(Fetch.self, with: OwnFetch { asked.withLock { $0 += 1 } }, where: .present)
                .inserting(
                    ClosureStage("Guard", produces: .empty) { load in
                        throw LoadError(.refused, subject: load.subject, "The guard refuses it.")
                    }, at: .beforeOrigin)
        }
        let list = "\(loader.pipeline(for: .standard))"
        #expect(list.contains(/Lease\(shared\) \{\n *FollowIdentified \{\n *Guard\n *OwnFetch/), "\(list)")
        #expect(try await loader.load(site.origin.url("/shared.png")).source == .shared)
        let error = await #expect(throws: LoadError.self) { try await loader.load(site.origin.url("/other.png")) }
        #expect(error?.code == .refused)
        #expect(asked.withLock(\.self) == 0)
    }

    @Test(
        "what must not be shared is fetched by each machine, which doesn't queue", arguments: ["no-store", "private"])
    func notShared(_ control: String) async throws {
        let gate = try ScriptedOrigin.Gate()
        let picture = Picture.png(PixelSize(width: 64, height: 48))
        let site = try FleetSite { _ in .init(headers: [.cacheControl: control], body: picture).held(until: gate) }
        let (first, second) = (site.machine(), site.machine())
        async let one = first.load(site.origin.url("/cat.png"))
        await site.origin.until { $0.requests.count == 1 }
        async let two = second.load(site.origin.url("/cat.png"))
        try await site.listeners(1)
        gate.open()
        #expect(try await one.source == .network)
        #expect(try await two.source == .network)
        #expect(site.requests == 2)
        #expect(try await second.entries() == 0)
    }

    @Test("an error reaches each machine's own load, and no waiter waits for the lease's end")
    func errors() async throws {
        let gate = try ScriptedOrigin.Gate()
        let site = try FleetSite { _ in .init(status: 503).held(until: gate) }
        let (first, second) = (site.machine(leaseLifetime: .seconds(600)), site.machine(leaseLifetime: .seconds(600)))
        let one = Task { try await first.load(site.origin.url("/cat.png")) }
        await site.origin.until { $0.requests.count == 1 }
        let two = Task { try await second.load(site.origin.url("/cat.png")) }
        try await site.listeners(1)
        gate.open()
        await #expect(throws: LoadError.self) { _ = try await one.value }
        await #expect(throws: LoadError.self) { _ = try await two.value }
    }

    @Test("bytes that don't decode are never shared")
    func undecodable() async throws {
        let site = try FleetSite { _ in .init(headers: [.cacheControl: "max-age=60"], body: "no picture") }
        let machine = site.machine()
        await #expect(throws: LoadError.self) { _ = try await machine.load(site.origin.url("/cat.png")) }
        #expect(try await machine.entries() == 0)
    }

    @Test("a fleet by another clock than that of a machine's cache is refused when the loader is made")
    func clocks() throws {
        let machine = try FleetSite().machine()
        let resources = PipelineResources(
            memory: MemoryCache(), responses: HTTPCache(inMemory: 1000, clock: ManualClock()),
            client: CurlClient(.local))
        let error = #expect(throws: LoadError.self) {
            try ImageLoader(resources, arrangement: machine.fleet.arrangement)
        }
        #expect(error?.message.contains("Lookup would calculate wrong ages") == true)
    }

    @Test("its lists use the codecs of the loader", arguments: [false, true])
    func codecs(encodes: Bool) async throws {
        let svg = Array(#"<svg xmlns="http://www.w3.org/2000/svg" width="8" height="4"/>"#.utf8)
        let site = try FleetSite { _ in .init(headers: [.contentType: "image/svg+xml"], body: svg) }
        let machine = site.machine()
        var resources = machine.resources
        resources.isolation = .none
        func stage() async -> String? {
            let list = ImagePipeline.returnSharedElseLoad(
                resources, machine.fleet, encoding: encodes ? Encode(.png) : nil)
            let request = ImageRequest(site.origin.url("/a.svg"))
            return await #expect(throws: LoadError.self) { try await list.load(request) }?.stage
        }
        #expect(await stage() == "CheckContentType")
        resources.codecs = .standard.adding(.svg)
        // Its decoder refuses it outside a process of its own.
        #expect(await stage() == "Decode")
    }

    @Test("what is prefetched to disk is fetched by one machine for all")
    func prefetched() async throws {
        let site = try FleetSite()
        for _ in 0..<3 {
            let machine = site.machine()
            let list = machine.fleet.arrangement(.storeOnDisk, machine.resources)
            _ = try await list.load(ImageRequest(site.origin.url("/cat.png")))
        }
        #expect(site.requests == 1)
    }

    @Test("the list of the policy shows where the shared tier stands")
    func list() throws {
        let machine = try FleetSite().machine()
        let list = "\(machine.loader.pipeline(for: .standard))"
        #expect(
            list.contains(
                """
                                            Lease {
                                                Lookup(shared)
                                                Lease(shared) {
                                                    FollowIdentified {
                                                        Fetch
                                                    }
                                                }
                                            }
                """), "\(list)")
        #expect(list.contains("        Store(shared)\n"))
    }
}
