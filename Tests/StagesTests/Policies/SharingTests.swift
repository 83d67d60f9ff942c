import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

@Suite("Loads that are shared, over real HTTP")
struct SharingTests {
    private let site: Site
    private let gate: ScriptedOrigin.Gate

    init() throws {
        site = try Site()
        gate = try ScriptedOrigin.Gate()
        let picture = try Pictures.bytes("good/webp-lossy.webp")
        site.origin.route("/held") { [gate] _ in
            .init(headers: [.cacheControl: "max-age=60"], body: picture).held(until: gate)
        }
    }

    @Test("A thousand concurrent loads of one URL make one request")
    func thousand() async throws {
        let loader = site.loader()
        let url = site.origin.url("/held")
        try await withThrowingTaskGroup(of: PixelSize.self) { group in
            for _ in 0..<1000 { group.addTask { try await loader.load(url).image.size } }
            await site.flights.reaches(waiters: 1001)
            gate.open()
            var answers = 0
            for try await size in group {
                #expect(size == PixelSize(width: 160, height: 120))
                answers += 1
            }
            #expect(answers == 1000)
        }
        #expect(site.requests == 1)
    }

    @Test("Four sizes through two lists built separately and two policies make one request")
    func sizesListsPolicies() async throws {
        let resources = site.resources()
        let url = site.origin.url("/held")
        let lists: [ImagePipeline] = [
            .returnCacheElseLoad(resources), .returnCacheElseLoad(resources), .ignoreCache(resources),
        ]
        try await withThrowingTaskGroup(of: (Int, LoadResponse).self) { group in
            for list in lists {
                for side in [20, 40, 80, 160] {
                    let request = ImageRequest(url, maxPixelSize: PixelSize(square: side))
                    group.addTask { (side, try await list.load(request)) }
                }
            }
            // A waiter a load and one a flight of a list: equal lists share theirs.
            await site.flights.reaches(waiters: 20)
            gate.open()
            for try await (side, response) in group { #expect(response.size?.width == side) }
        }
        #expect(site.requests == 1)
        #expect(try await resources.responses.statistics()?.entries == 1)
    }

    @Test("A load that failed makes the next one try again, and every waiter gets the error")
    func failure() async throws {
        let loader = site.loader()
        let gate = gate
        site.origin.script("/fails", ScriptedOrigin.Reply(status: 500).held(until: gate), .init(status: 404))
        let url = site.origin.url("/fails")
        await withTaskGroup(of: Int?.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    do { _ = try await loader.load(url) } catch { return (error as? LoadError)?.httpStatus }
                    return nil
                }
            }
            await site.flights.reaches(waiters: 21)
            gate.open()
            for await status in group { #expect(status == 500) }
        }
        let error = await #expect(throws: LoadError.self) { try await loader.load(url) }
        #expect(error?.httpStatus == 404)
        #expect(site.requests == 2)
    }

    @Test("When the last waiter leaves, the transfer is broken off")
    func cancellation() async throws {
        let loader = site.loader()
        let url = site.origin.url("/held")
        let loads = (0..<5).map { _ in Task { try await loader.load(url) } }
        await site.flights.reaches(waiters: 6)
        await site.origin.until { $0.requests.count == 1 }
        for load in loads { load.cancel() }
        for load in loads { await #expect(throws: CancellationError.self) { try await load.value } }
        // The gate is still closed: only a broken connection ends this.
        await site.origin.until { $0.closedConnections == 1 }
        await site.flights.drain()
        #expect(site.flights.isForgotten)
    }

    @Test("Loads that differ in Authorization, Accept or partition never share a flight")
    func apart() async throws {
        let loader = site.loader()
        let url = site.origin.url("/held")
        let options = [
            LoadOptions(), LoadOptions(headers: [.authorization: "Basic YTpi"]),
            LoadOptions(headers: [.accept: "image/webp"]), LoadOptions(partition: "tenant"),
        ]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for options in options { group.addTask { _ = try await loader.load(url, options: options) } }
            await site.origin.until { $0.requests.count == options.count }
            gate.open()
            try await group.waitForAll()
        }
        #expect(site.requests == options.count)
    }
}
