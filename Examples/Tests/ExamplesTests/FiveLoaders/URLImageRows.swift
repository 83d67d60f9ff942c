import FiveLoaders
import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import Testing

@Suite("Rows of a view with options, policies and states", .timeLimit(.minutes(5)))
struct URLImageRows {
    private let site: LoaderSite

    init() throws { site = try LoaderSite() }

    @Test("The states: nothing, under way with its share, failed with a retry, and the image")
    @MainActor
    func states() async {
        site.origin.script("/flaky", .init(status: 503), .init(body: site.picture))
        let state = ImageState(.url(site.url("/flaky")), loader: site.loader())
        guard case .empty = state.state else { return #expect(Bool(false)) }
        state.shown()
        while case .inProgress = state.state { await Task.yield() }
        guard case .failure(let error, let retry) = state.state else { return #expect(Bool(false)) }
        #expect(error.httpStatus == 503)
        retry()
        guard case .inProgress = state.state else { return #expect(Bool(false)) }
        while case .inProgress = state.state { await Task.yield() }
        guard case .success(let response) = state.state else { return #expect(Bool(false)) }
        #expect(response.source == .network)
    }

    @Test("An identifier takes the place of the URL")
    func identifier() async throws {
        let loader = site.loader()
        let options = LoadOptions(identifier: "picture")
        #expect(try await loader.load(site.url("/a?token=1"), options: options).source == .network)
        #expect(try await loader.load(site.url("/a?token=2"), options: options).source == .memory)
        #expect(try await loader.load(site.url("/a?token=2")).source == .network)
    }

    @Test("expireAfter: fresh for 300 s, then confirmed, whatever the server says")
    func expireAfter() async throws {
        let picture = site.picture
        for control in ["max-age=99999", "no-cache"] {
            site.origin.route("/\(control)") { request in
                let headers: HTTPFields = [.cacheControl: control, .eTag: "\"1\""]
                return request.headers[.ifNoneMatch] == nil
                    ? .init(headers: headers, body: picture) : .init(status: 304, headers: headers)
            }
            let loader = site.loader(LoadOptions(expiry: .after(.seconds(300))))
            _ = try await loader.load(site.url("/\(control)"))
            site.clock.advance(by: .seconds(299))
            #expect(try await loader.load(site.url("/\(control)")).source == .memory)
            site.clock.advance(by: .seconds(2))
            #expect(try await loader.load(site.url("/\(control)")).source == .revalidated)
        }
    }

    @Test("Every size comes of one download, and none is enlarged")
    func sizes() async throws {
        let loader = site.loader()
        let boxes: [(PixelSize?, PixelSize)] = [
            (120, PixelSize(width: 120, height: 90)), (nil, PixelSize(width: 160, height: 120)),
            (PixelSize(width: 640, height: 60), PixelSize(width: 80, height: 60)),
            (5000, PixelSize(width: 160, height: 120)),
        ]
        for (box, expected) in boxes {
            let response = try await loader.load(site.url("/a"), options: LoadOptions(maxPixelSize: box))
            #expect(response.image.size == expected)
        }
        #expect(site.requests == 1)
    }

    @Test("The defaults: 24 hours, the cache else the network, 300×300")
    func defaults() {
        let options = LoadOptions()
        #expect(options.expiry == .server(otherwise: .seconds(86_400)))
        #expect(options.policy == .returnCacheElseLoad())
        #expect(options.maxPixelSize == PixelSize(square: 300))
    }

    @Test("returnCacheElseLoad waits before the disk and before the network, and never for memory")
    func delays() async throws {
        let options = LoadOptions(
            policy: .returnCacheElseLoad(cacheDelay: .milliseconds(200), downloadDelay: .milliseconds(400)))
        let loader = site.loader()
        let cold = loader.task(for: site.url("/a"), options: options)
        try await site.pass(.milliseconds(200))
        try await site.clock.sleepers(1)
        #expect(site.requests == 0)
        site.clock.advance(by: .milliseconds(400))
        #expect(try await cold.response.source == .network)
        let onDisk = site.loader().task(for: site.url("/a"), options: options)
        try await site.pass(.milliseconds(200))
        #expect(try await onDisk.response.source == .disk)
        #expect(try loader.task(for: site.url("/a"), options: options).result?.get().source == .memory)
    }

    @Test("returnCacheDontLoad gives what is cached after its delay, and asks nobody; a view stays empty")
    @MainActor
    func dontLoad() async throws {
        let options = LoadOptions(policy: .returnCacheDontLoad(delay: .milliseconds(200)))
        let state = ImageState(.url(site.url("/a")), loader: site.loader(), options: options)
        state.shown()
        try await site.pass(.milliseconds(200))
        while case .inProgress = state.state { await Task.yield() }
        guard case .empty = state.state else { return #expect(Bool(false)) }
        #expect(site.requests == 0)
        _ = try await site.loader().load(site.url("/a"))
        let task = site.loader().task(for: site.url("/a"), options: options)
        try await site.pass(.milliseconds(200))
        #expect(try await task.response.source == .disk)
    }

    @Test("An expired image is given offline, and returnCacheDontLoad says that it is there")
    func expired() async throws {
        let loader = site.loader()
        _ = try await loader.load(site.url("/a"))
        site.clock.advance(by: .seconds(60 + 980))
        let error = await #expect(throws: LoadError.self) {
            try await loader.load(site.url("/a"), options: LoadOptions(policy: .returnCacheDontLoad()))
        }
        #expect(error?.code == .notCached)
        #expect(error?.message.contains("expired 980 s ago; use offline to accept it") == true)
        #expect(try await loader.load(site.url("/a"), options: LoadOptions(policy: .offline)).isStale)
        #expect(site.requests == 1)
    }

    @Test("ignoreCache waits and asks; useProtocol has the server confirm")
    func otherPolicies() async throws {
        let loader = site.loader()
        _ = try await loader.load(site.url("/a"))
        let task = loader.task(
            for: site.url("/a"), options: LoadOptions(policy: .ignoreCache(delay: .milliseconds(200))))
        try await site.pass(.milliseconds(200))
        #expect(try await task.response.source == .network)
        site.clock.advance(by: .seconds(61))
        #expect(
            try await loader.load(site.url("/a"), options: LoadOptions(policy: .useProtocol)).source == .revalidated)
    }

    @Test("A clean-up removes what has expired")
    func cleanUp() async throws {
        let loader = site.loader()
        for path in ["/a", "/b"] { _ = try await loader.load(site.url(path)) }
        site.clock.advance(by: .seconds(61))
        _ = try await loader.load(site.url("/c"))
        await loader.cleanUp()
        #expect(try await loader.resources.responses.statistics()?.entries == 1)
        #expect(loader.resources.memory.count == 1)
    }

    @Test("Images are removed by identifier, by URL, and all")
    func remove() async throws {
        let loader = site.loader()
        let named = LoadOptions(identifier: "picture")
        func count() async throws -> Int? { try await loader.resources.responses.statistics()?.entries }
        _ = try await loader.load(site.url("/named"), options: named)
        for path in ["/a", "/b"] { _ = try await loader.load(site.url(path)) }
        await loader.remove(identifier: "picture")
        #expect(try await count() == 2)
        await loader.remove(site.url("/a"))
        #expect(try await count() == 1)
        await loader.removeAll()
        #expect(try await count() == 0)
        #expect(loader.resources.memory.count == 0)
    }

    @Test("A URL removes what was loaded from it under an identifier or with credentials, and a file's images")
    func removeEverything() async throws {
        let loader = site.loader()
        let options = [
            LoadOptions(identifier: "picture"), LoadOptions(headers: try .bearer("token")),
            LoadOptions(partition: "alice"),
        ]
        for options in options { _ = try await loader.load(site.url("/a"), options: options) }
        await loader.remove(site.url("/a"))
        for options in options {
            #expect(try await loader.load(site.url("/a"), options: options).source == .network)
        }
        await loader.remove(partition: "alice")
        #expect(try await loader.load(site.url("/a"), options: options[2]).source == .network)
        #expect(try await loader.load(site.url("/a"), options: options[1]).source == .memory)
        let file = site.folder.appendingPathExtension("png")
        try Data(site.picture).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        _ = try await loader.load(file)
        #expect(try await loader.load(file).source == .memory)
        await loader.remove(file)
        #expect(try await loader.load(file).source == .file)
    }

    @Test("Either cache can stand alone")
    func alone() async throws {
        let memory = ImageLoader(site.resources(responses: HTTPCache(inMemory: 0, clock: site.clock)))
        _ = try await memory.load(site.url("/a"))
        #expect(try await memory.load(site.url("/a")).source == .memory)
        #expect(!FileManager.default.fileExists(atPath: site.folder.path))
        let disk = ImageLoader(site.resources(memory: MemoryCache(byteLimit: 0)))
        _ = try await disk.load(site.url("/a"))
        #expect(try await disk.load(site.url("/a")).source == .disk)
    }

    @Test("The default options change at run time")
    func changedDefaults() async throws {
        let loader = site.loader()
        loader.defaults.maxPixelSize = 80
        loader.defaults.policy = .useProtocol
        #expect(try await loader.load(site.url("/a")).image.width == 80)
    }

    @Test("A view loads when it appears, ends when it disappears, and loads again")
    @MainActor
    func appearance() async throws {
        let loader = site.loader()
        let photo = RemotePhoto(site.url("/held"), loader: loader)
        photo.appear()
        try await site.pass(.milliseconds(250))
        await site.origin.until { $0.requests.count == 1 }
        photo.disappear()
        #expect(photo.text == "nothing")
        // The gate is shut: only a cancelled request ends.
        await loader.resources.flights.drain()
        photo.appear()
        try await site.pass(.milliseconds(250))
        site.gate.open()
        while photo.text == "loading" || photo.text.hasSuffix("%") { await Task.yield() }
        #expect(photo.text == "120×90")
    }

    @Test("An animation keeps its frames, delays and loops, as many as a load asks for")
    func animated() async throws {
        let frames = (0..<4).map { number in
            DecodedImage.Frame(
                pixels: [UInt8](repeating: UInt8(number * 60), count: 8 * 8 * 3), delay: .milliseconds(100))
        }
        let animation = DecodedImage(size: 8, layout: .rgb, frames: frames, loopCount: 2)
        let file = try await EncodedImage(encoding: animation, as: .gif).bytes
        site.origin.route("/animation") { _ in .init(headers: [.cacheControl: "max-age=60"], body: file) }
        let loader = site.loader()
        for (wanted, count) in [(nil, 1), (2, 2), (100, 4)] as [(Int?, Int)] {
            let image = try await loader.load(site.url("/animation"), options: LoadOptions(frames: wanted)).image
            #expect(image.frames.count == count)
            if count == 4 {
                #expect(image.frames.map(\.delay) == frames.map(\.delay))
                #expect(image.loopCount == 2)
            }
        }
        #expect(site.requests == 1)
    }
}
