import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

/// BEHAVIOURS 12, 13 and 19, and what a handle adds to a load.
@Suite("A task for an image")
struct ImageTaskTests {
    private let site: Site
    private let gate: ScriptedOrigin.Gate
    private let held: URL

    init() throws {
        site = try Site()
        gate = try ScriptedOrigin.Gate()
        let picture = try Pictures.bytes("good/webp-lossy.webp")
        site.origin.route("/held") { [gate] _ in
            .init(headers: [.cacheControl: "max-age=60"], body: picture).held(until: gate)
        }
        held = site.origin.url("/held")
    }

    /// The events without progress, in words.
    private func told(_ task: ImageTask) async -> [String] {
        var words: [String] = []
        for await event in task.events { if let word = event.words { words.append(word) } }
        return words
    }

    @Test("No hit: sendingRequest, then requestCompleted with the image; a fresh hit: only hasCache")
    func order() async throws {
        let loader = site.loader()
        let url = site.origin.url("/a")
        #expect(
            await told(loader.task(for: url)) == ["sendingRequest(false)", "requestCompleted(image, network)"])
        #expect(await told(loader.task(for: url)) == ["hasCache(memory)"])
        #expect(await told(site.loader().task(for: url)) == ["hasCache(disk)"])
        #expect(site.requests == 1)
    }

    @Test("Expired hit: all three, the stale image first; a 304 gives no image again")
    func expired() async throws {
        let loader = site.loader(defaults: LoadOptions(policy: .useProtocol))
        let url = site.origin.url("/a")
        _ = try await loader.load(url)
        site.clock.advance(by: .seconds(61))
        let last = ["sendingRequest(true)", "requestCompleted(no image, revalidated)"]
        #expect(await told(loader.task(for: url)) == ["hasCache(memory)"] + last)
        site.clock.advance(by: .seconds(61))
        let restarted = site.loader(defaults: LoadOptions(policy: .useProtocol))
        #expect(await told(restarted.task(for: url)) == ["hasCache(disk)"] + last)
    }

    @Test("A failed request is completed with its error and without an image")
    func failure() async throws {
        site.origin.script("/gone", .init(status: 404))
        let task = site.loader().task(for: site.origin.url("/gone"))
        #expect(await told(task) == ["sendingRequest(false)", "requestCompleted(httpStatus)"])
        let error = await #expect(throws: LoadError.self) { try await task.response }
        #expect(error?.httpStatus == 404)
    }

    @Test("Bytes that aren't an image complete the request with that error")
    func undecodable() async throws {
        site.origin.script("/text", .init(body: "no image"))
        let task = site.loader().task(for: site.origin.url("/text"))
        #expect(await told(task) == ["sendingRequest(false)", "requestCompleted(undecodable)"])
    }

    @Test("What is neither cached nor requested gives its image with the last event")
    func file() async throws {
        let task = site.loader().task(for: .file(Pictures.path("good/png-basi2c08.png")))
        #expect(await told(task) == ["requestCompleted(image, file)"])
    }

    @Test("What no cache has and no list fetches ends in notCached, which the last event tells")
    func notCached() async throws {
        let options = LoadOptions(policy: .returnCacheDontLoad())
        let task = site.loader().task(for: site.origin.url("/a"), options: options)
        #expect(await told(task) == ["requestCompleted(notCached)"])
        let error = await #expect(throws: LoadError.self) { try await task.response }
        #expect(error?.code == .notCached)
        #expect(site.requests == 0)
    }

    @Test("A load that fails before a request ends with one event that has the error")
    func failsBeforeRequest() async throws {
        let loader = site.loader()
        for (text, code) in [
            ("ftp://example.com/a.png", LoadError.Code.unsupportedScheme), ("file:///nowhere/a.png", .fileNotFound),
            ("data:image/png;base64,%%", .invalidURL),
        ] {
            let task = loader.task(for: try #require(URL(string: text)))
            #expect(await told(task) == ["requestCompleted(\(code))"])
        }
        var resources = site.resources()
        resources.errorLimits = ErrorLimits(clientErrors: .init(attempts: 1, maxAge: .seconds(900)))
        let limited = ImageLoader(resources)
        site.origin.route("/gone") { _ in .init(status: 404) }
        _ = await told(limited.task(for: site.origin.url("/gone")))
        #expect(await told(limited.task(for: site.origin.url("/gone"))) == ["requestCompleted(httpStatus)"])
        #expect(site.requests == 1)
    }

    @Test("A load that ends because the caches are cleared tells that it was cancelled")
    func cleared() async throws {
        let loader = site.loader()
        let task = loader.task(for: held)
        await site.origin.until { $0.requests.count == 1 }
        await loader.removeAll()
        #expect(await told(task) == ["sendingRequest(false)", "cancelled"])
    }

    @Test("An image in memory is there before task(for:) returns")
    func synchronous() async throws {
        let loader = site.loader()
        let url = site.origin.url("/a")
        _ = try await loader.load(url)
        let task = loader.task(for: url)
        #expect(try task.result?.get().source == .memory)
    }

    @Test("Of progress only the newest is kept for an observer that doesn't look; everything else is kept")
    func newestProgress() async throws {
        let picture = try Pictures.bytes("good/photo-12mp-baseline-420.jpg")
        site.origin.route("/large") { _ in .init(body: picture) }
        let task = site.loader().task(for: site.origin.url("/large"))
        _ = try await task.response
        var events: [String] = []
        var received: [Int] = []
        for await event in task.events {
            if let word = event.words { events.append(word) }
            if case .progress(let count, let expected) = event, expected == picture.count { received.append(count) }
        }
        #expect(events == ["sendingRequest(false)", "requestCompleted(image, network)"])
        #expect(received == [picture.count])
    }

    @Test("Any number of readers see the same events, however late")
    func readers() async throws {
        let task = site.loader().task(for: held)
        async let early = told(task)
        await site.origin.until { $0.requests.count == 1 }
        async let middle = told(task)
        gate.open()
        _ = try await task.response
        let late = await told(task)
        #expect(late == ["sendingRequest(false)", "requestCompleted(image, network)"])
        #expect(await early == late)
        #expect(await middle == late)
    }

    @Test("Each load gives a handle that can cancel: waiters are told at once, and the transfer ends")
    func cancel() async throws {
        let task = site.loader().task(for: held)
        await site.origin.until { $0.requests.count == 1 }
        task.cancel()
        // The gate is still closed.
        await #expect(throws: CancellationError.self) { try await task.response }
        #expect(await told(task) == ["sendingRequest(false)", "cancelled"])
        await site.origin.until { $0.closedConnections == 1 }
        #expect(site.origin.log.closedConnections == 1)
    }

    @Test("Cancelling the task around a wait for the response cancels the load")
    func surrounding() async throws {
        let loader = site.loader()
        let waiting = Task { try await loader.task(for: held).response }
        await site.origin.until { $0.requests.count == 1 }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        await site.origin.until { $0.closedConnections == 1 }
        await site.flights.drain()
        #expect(site.flights.isForgotten)
    }

    @Test("Cancelling the task that reads the events ends them and cancels the load")
    func reading() async throws {
        let task = site.loader().task(for: held)
        let reading = Task { await told(task) }
        await site.origin.until { $0.requests.count == 1 }
        reading.cancel()
        #expect(await reading.value == ["sendingRequest(false)", "cancelled"])
        await #expect(throws: CancellationError.self) { try await task.response }
    }

    @Test("A handle that is let go does not end its load")
    func ignored() async throws {
        let loader = site.loader()
        _ = loader.task(for: held)
        await site.origin.until { $0.requests.count == 1 }
        gate.open()
        await site.flights.drain()
        #expect(loader.task(for: held).result != nil)
        #expect(site.requests == 1)
    }

    @Test("After shutdown every load fails, those under way were cancelled, and the disk is left clean")
    func shutdown() async throws {
        let loader = site.loader()
        _ = try await loader.load(site.origin.url("/a"))
        let task = loader.task(for: held)
        await site.origin.until { $0.requests.count == 2 }
        await loader.shutdown()
        await #expect(throws: CancellationError.self) { try await task.response }
        let error = await #expect(throws: LoadError.self) { try await loader.load(site.origin.url("/a")) }
        #expect(error?.code == .refused)
        #expect(site.flights.isForgotten)
        // SQLite removes its log when the last connection closes in good order.
        #expect(TemporaryFolder.names(site.folder).allSatisfy { !$0.hasSuffix("-wal") })
        let restarted = ImageLoader(
            PipelineResources(
                memory: MemoryCache(), responses: HTTPCache(folder: site.folder, clock: site.clock),
                client: CurlClient(.local)))
        #expect(try await restarted.load(site.origin.url("/a")).source == .disk)
    }
}

extension ImageTaskEvent {
    /// The event, unless it is one of many.
    var words: String? {
        switch self {
        case .hasCache(_, let source): "hasCache(\(source))"
        case .sendingRequest(let didHave): "sendingRequest(\(didHave))"
        case .progress, .preview: nil
        case .cancelled: "cancelled"
        case .requestCompleted(.some(let error), .none, .none): "requestCompleted(\(error.code))"
        case .requestCompleted(let error, let image, let source):
            "requestCompleted(\(error.map { "\($0.code), " } ?? "")\(image == nil ? "no image" : "image"), "
                + "\(source.map { "\($0)" } ?? "none"))"
        }
    }
}
