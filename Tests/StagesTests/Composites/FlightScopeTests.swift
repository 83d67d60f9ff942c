import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

@Suite("Loads that are begun from inside another", .timeLimit(.minutes(5)))
struct FlightScopeTests {
    private let gate = Gate()
    private let seen = Lock<[String: LoadPriority]>([:])
    private let begun = Counter()

    /// A list whose fetch notes the priority, and waits for the gate.
    private func pipeline(_ flights: Flights) -> ImagePipeline {
        ImagePipeline { [gate, seen, begun] in
            ResolveIdentifier()
            Coalesce(flights, by: .variant) {
                StubStage("Fetch") { load in
                    if case .dataURL(let name) = load.request.source {
                        let priority = load.priority
                        seen.withLock { $0[name] = priority }
                    }
                    load.report(.sendingRequest(hadCachedImage: false))
                    begun.increment()
                    try await gate.wait()
                    load.advance(to: .ready(.image(.filled(1))), from: .network)
                    return .done
                }
            }
        }
    }

    @Test("A load that an observer begins in a task has its own priority and its own place")
    func fromEvent() async throws {
        let flights = Flights(maximumConcurrent: 1)
        let pipeline = pipeline(flights)
        let inner = Lock<Task<Void, any Error>?>(nil)
        let outer = Task {
            try await pipeline.load(ImageRequest(.dataURL("outer"), priority: .veryLow)) { event in
                guard case .sendingRequest = event else { return }
                let task = Task {
                    _ = try await pipeline.load(ImageRequest(.dataURL("inner"), priority: .veryHigh))
                }
                inner.withLock { $0 = task }
            }
        }
        await begun.reaches(1)
        while flights.count < 2 { await Task.yield() }
        #expect(flights.waiting == 1)
        gate.open()
        _ = try await outer.value
        try await inner.withLock { $0 }?.value
        #expect(seen.withLock { $0 } == ["outer": .veryLow, "inner": .veryHigh])
    }

    @Test("A task that a stage has left running is on its own once the flight has ended")
    func fromStage() async throws {
        let flights = Flights(maximumConcurrent: 1)
        let (inner, isOver) = (pipeline(flights), Gate())
        let left = Lock<Task<Void, any Error>?>(nil)
        let outer = ImagePipeline {
            ResolveIdentifier()
            Coalesce(flights, by: .variant) {
                StubStage("Leave") { load in
                    let task = Task {
                        try await isOver.wait()
                        _ = try await inner.load(ImageRequest(.dataURL("left"), priority: .veryHigh))
                    }
                    left.withLock { $0 = task }
                    load.advance(to: .ready(.image(.filled(1))), from: .network)
                    return .done
                }
            }
        }
        _ = try await outer.load(ImageRequest(.dataURL("outer"), priority: .veryLow))
        await flights.drain()
        let other = Task { try await inner.load(ImageRequest(.dataURL("other"))) }
        await begun.reaches(1)
        isOver.open()
        while flights.count < 2 { await Task.yield() }
        #expect(flights.waiting == 1)
        gate.open()
        _ = try await other.value
        try await left.withLock { $0 }?.value
        #expect(seen.withLock { $0 } == ["other": .normal, "left": .veryHigh])
    }

    @Test("Refreshes in the background are few at once, have low priority, and take places")
    func refreshes() async throws {
        let site = try Site([.eTag: "\"1\"", .cacheControl: "max-age=60, stale-while-revalidate=6000"])
        let flights = Flights(maximumConcurrent: 64)
        var resources = site.resources()
        resources.flights = flights
        let requests = Counter()
        resources.client = GatedClient(client: site.client, gate: gate, revalidations: requests)
        let loader = ImageLoader(resources)
        let urls = (0..<40).map { site.origin.url("/\($0)") }
        for url in urls { _ = try await loader.load(url) }
        site.clock.advance(by: .seconds(120))
        loader.resources.memory.reset()
        for url in urls {
            let response = try await loader.load(
                url, options: LoadOptions(policy: .useProtocol, priority: .veryHigh))
            #expect(response.isStale)
        }
        await requests.reaches(1)
        for _ in 0..<200 { await Task.yield() }
        #expect(requests.value <= 8)
        gate.open()
        await flights.drain()
        #expect(requests.value == 40)
    }

    @Test("A refresh that waits doesn't store again what is removed meanwhile")
    func removedWhileWaiting() async throws {
        let site = try Site([.eTag: "\"1\"", .cacheControl: "max-age=60, stale-while-revalidate=6000"])
        var resources = site.resources()
        let requests = Counter()
        resources.client = GatedClient(client: site.client, gate: gate, revalidations: requests)
        let loader = ImageLoader(resources)
        let urls = (0..<12).map { site.origin.url("/\($0)") }
        for url in urls { _ = try await loader.load(url) }
        site.clock.advance(by: .seconds(120))
        resources.memory.reset()
        for url in urls { #expect(try await loader.load(url).isStale) }
        await requests.reaches(8)
        let cachedOnly = LoadOptions(policy: .returnCacheDontLoad())
        await loader.remove(urls[11])
        // The refresh would store the new version.
        let newer = Picture.png(PixelSize(width: 9, height: 9))
        site.origin.route("/11") { _ in .init(headers: [.cacheControl: "max-age=60"], body: newer) }
        gate.open()
        await resources.flights.drain()
        #expect(try await !loader.load(urls[0], options: cachedOnly).isStale)
        await #expect(throws: LoadError.self) { try await loader.load(urls[11], options: cachedOnly) }
    }
}

/// Lets revalidations wait for a gate.
private struct GatedClient: TransferClient {
    let client: CurlClient
    let gate: Gate
    let revalidations: Counter

    func send(_ request: TransferRequest) async throws -> TransferResponse {
        if request.headers[.ifNoneMatch] != nil {
            #expect(request.priority == .low)
            revalidations.increment()
            try await gate.wait()
        }
        return try await client.send(request)
    }

    var urlRule: (@Sendable (URL) -> Bool)? { client.urlRule }

    func shutdown() async { await client.shutdown() }
}
