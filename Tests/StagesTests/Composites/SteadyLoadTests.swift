import Foundation
import HTTPTypes
import Pipeline
import PipelineHTTP
import PipelineImages
import PipelineTesting
import Synchronization
import TestFixtures
import Testing

@testable import Stages

@Suite("Waiting for loads while others go on loading", .timeLimit(.minutes(5)))
struct SteadyLoadTests {
    private let site: Site
    private let loader: ImageLoader

    init() throws {
        site = try Site()
        var resources = site.resources()
        resources.client = BusyClient(client: site.client)
        loader = ImageLoader(resources)
    }

    /// Runs `body` while six visitors load one image after the other.
    private func underSteadyLoad(_ body: () async throws -> Void) async throws {
        let (isOver, loads) = (Lock(false), Counter())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for visitor in 0..<6 {
                group.addTask { [site, loader] in
                    var number = 0
                    while !isOver.withLock({ $0 }) {
                        number += 1
                        _ = try? await loader.load(site.origin.url("/\(visitor)/\(number)"))
                        loads.increment()
                        // What is refused at once would else keep the thread.
                        await Task.yield()
                    }
                }
            }
            await loads.reaches(12)
            let result: Result<Void, any Error>
            do {
                try await body()
                result = .success(())
            } catch {
                result = .failure(error)
            }
            let count = loads.value
            if !loader.isShutDown.load(ordering: .relaxed) { await loads.reaches(count + 12) }
            isOver.withLock { $0 = true }
            try result.get()
        }
    }

    @Test("Removing everything returns, and what was stored before is gone")
    func removeAll() async throws {
        let old = site.origin.url("/old")
        _ = try await loader.load(old)
        try await underSteadyLoad {
            await loader.removeAll()
            await #expect(throws: LoadError.self) {
                try await loader.load(old, options: LoadOptions(policy: .returnCacheDontLoad()))
            }
        }
        await site.flights.drain()
        #expect(site.flights.isForgotten)
    }

    @Test("Cancelling every load returns, and later loads go on")
    func cancelAll() async throws {
        try await underSteadyLoad { await site.flights.cancelAll() }
    }

    @Test("Waiting until what is under way has ended returns")
    func drain() async throws {
        try await underSteadyLoad { await site.flights.drain() }
    }

    @Test("Shutting down returns")
    func shutdown() async throws {
        try await underSteadyLoad { await loader.shutdown() }
    }

    @Test("Draining waits for the flights of the moment, those that nobody waits for any more included")
    func momentary() async throws {
        let (flights, gate, begun) = (Flights(), Barrier(), Counter())
        let pipeline = ImagePipeline {
            ResolveIdentifier()
            Coalesce(flights, by: .variant) {
                StubStage("Work") { load in
                    begun.increment()
                    // Continues though it is cancelled.
                    await withCheckedContinuation { continuation in
                        Foundation.Thread {
                            gate.wait()
                            continuation.resume()
                        }.start()
                    }
                    load.advance(to: .ready(.image(.filled(1))), from: .network)
                    return .done
                }
            }
        }
        let old = Task { try await pipeline.load(ImageRequest(.dataURL("old"))) }
        await begun.reaches(1)
        await flights.reaches(waiters: 1)
        old.cancel()
        _ = try? await old.value
        let isDrained = Counter()
        let draining = Task {
            await flights.drain()
            isDrained.increment()
        }
        for _ in 0..<100 { await Task.yield() }
        #expect(isDrained.value == 0)
        gate.open()
        await draining.value
        #expect(flights.isForgotten)
    }

    @Test("Waiting ends with the flights of the moment, though others have begun since")
    func newcomers() async throws {
        let (flights, gates) = (Flights(), ["old": Gate(), "new": Gate()])
        let pipeline = ImagePipeline {
            ResolveIdentifier()
            Coalesce(flights, by: .variant) {
                StubStage("Work") { load in
                    if case .dataURL(let name) = load.request.source { try await gates[name]?.wait() }
                    load.advance(to: .ready(.image(.filled(1))), from: .network)
                    return .done
                }
            }
        }
        let old = Task { try await pipeline.load(ImageRequest(.dataURL("old"))) }
        await flights.reaches(waiters: 1)
        let draining = Task { await flights.drain() }
        while flights.state.withLock({ $0.work.idleWaiters.isEmpty }) { await Task.yield() }
        let new = Task { try await pipeline.load(ImageRequest(.dataURL("new"))) }
        await flights.reaches(waiters: 2)
        gates["old"]?.open()
        _ = try await old.value
        await draining.value
        #expect(flights.count == 1)
        gates["new"]?.open()
        _ = try await new.value
    }
}

@Suite("Removing from the caches while loads are under way", .timeLimit(.minutes(5)))
struct RemovingUnderWayTests {
    private let site: Site
    private let loader: ImageLoader
    private let gate: ScriptedOrigin.Gate

    init() throws {
        site = try Site()
        loader = site.loader()
        let gate = try ScriptedOrigin.Gate()
        self.gate = gate
        let picture = try Pictures.bytes("good/webp-lossy.webp")
        site.origin.route("/held") { _ in
            .init(headers: [.cacheControl: "max-age=60"], body: picture).held(until: gate)
        }
    }

    private var cachedOnly: LoadOptions { LoadOptions(policy: .returnCacheDontLoad()) }

    @Test("A source that is removed while it loads is delivered and stored nowhere, whatever its size")
    func removed() async throws {
        let url = site.origin.url("/held")
        let loads = [100, 50].map { size in
            Task { [loader] in try await loader.load(url, options: LoadOptions(maxPixelSize: PixelSize(square: size))) }
        }
        await site.flights.reaches(waiters: 4)
        await loader.remove(url)
        gate.open()
        for load in loads { #expect(try await load.value.source == .network) }
        #expect(loader.resources.memory.count == 0)
        await #expect(throws: LoadError.self) { try await loader.load(url, options: cachedOnly) }
        #expect(try await loader.load(url).source == .network)
        #expect(try await loader.load(url).source == .memory)
        await site.flights.drain()
        #expect(site.flights.isForgotten)
    }

    @Test("A load that begins after the removal doesn't join one from before")
    func notJoined() async throws {
        let url = site.origin.url("/held")
        let old = Task { [loader] in try await loader.load(url) }
        await site.origin.until { $0.requests.count == 1 }
        await loader.remove(url)
        let new = Task { [loader] in try await loader.load(url) }
        await site.flights.reaches(waiters: 4)
        gate.open()
        _ = try await (old.value, new.value)
        #expect(site.requests == 2)
        #expect(try await loader.load(url, options: cachedOnly).source == .memory)
    }

    @Test("Other sources that load meanwhile are stored")
    func others() async throws {
        let held = Task { [loader, site] in try await loader.load(site.origin.url("/held")) }
        await site.origin.until { $0.requests.count == 1 }
        await loader.remove(site.origin.url("/other"))
        gate.open()
        _ = try await held.value
        #expect(try await loader.load(site.origin.url("/held"), options: cachedOnly).source == .memory)
    }
}

/// Takes its time, so that some load is always under way.
private struct BusyClient: TransferClient {
    let client: CurlClient

    func send(_ request: TransferRequest) async throws -> TransferResponse {
        for _ in 0..<300 { await Task.yield() }
        return try await client.send(request)
    }

    var urlRule: (@Sendable (URL) -> Bool)? { client.urlRule }

    func shutdown() async { await client.shutdown() }
}
