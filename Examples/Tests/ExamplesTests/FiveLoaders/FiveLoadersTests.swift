import FiveLoaders
import Foundation
import HTTPTypes
import Logging
import Pipeline
import PipelineServiceLifecycle
import PipelineTesting
import ServiceLifecycle
import Stages
import Synchronization
import Testing

@Suite("The usage of five loaders, ported")
final class FiveLoadersTests: Sendable {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "examples-\(UUID().uuidString)")
    private let clock = ManualClock()
    private let origin: ScriptedOrigin
    private let resources: PipelineResources
    private let picture = Picture.png(PixelSize(width: 160, height: 120))

    init() throws {
        let picture = picture
        let headers: HTTPFields = [.cacheControl: "max-age=60", .eTag: "\"1\""]
        origin = try ScriptedOrigin { request in
            request.headers[.ifNoneMatch] == nil
                ? .init(headers: headers, body: picture) : .init(status: 304, headers: headers)
        }
        resources = PipelineResources(
            memory: MemoryCache(), responses: HTTPCache(folder: folder.path, clock: clock),
            client: CurlClient(.init(addresses: .any)))
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    @Test("A target with a placeholder, which a cancel leaves alone")
    @MainActor
    func target() async throws {
        let gate = try ScriptedOrigin.Gate()
        origin.route("/held") { _ in ScriptedOrigin.Reply().held(until: gate) }
        let cell = PhotoCell(loader: ImageLoader(resources))
        cell.show(origin.url("/held"))
        #expect(cell.picture.image?.size == PixelSize(square: 1))
        await withCheckedContinuation { continuation in
            cell.show(origin.url("/a")) { _ in continuation.resume() }
        }
        #expect(cell.picture.image?.size == PixelSize(width: 160, height: 120))
        cell.show(origin.url("/held"))
        cell.prepareForReuse()
        #expect(cell.picture.image == nil)
        // In memory: there at once.
        cell.show(origin.url("/a"))
        #expect(cell.picture.image?.size == PixelSize(width: 160, height: 120))
    }

    @Test("A loader with injected closures, whose errors are told apart")
    func closures() async throws {
        struct Down: Error {}
        let picture = picture
        let shelf = Shelf()
        let pipeline = loaderOfClosures(shelf: shelf) { url in
            switch url.path() {
            case "/text": Array("no image".utf8)
            case "/down": throw Down()
            default: picture
            }
        }
        for _ in 0..<2 { #expect(try await pipeline.load(ImageRequest(origin.url("/a"))).image?.width == 160) }
        #expect(await shelf.hits == 1)
        for (path, text) in [("/text", "invalid image data"), ("/down", "loading failed: Down()")] {
            let error = await #expect(throws: LoadError.self) {
                try await pipeline.load(ImageRequest(origin.url(path)))
            }
            #expect(error.map { explanation(of: $0) } == text)
        }
        let empty = #expect(throws: LoadError.self) { try ImageSource(parsing: "") }
        #expect(empty.map { explanation(of: $0) } == "empty URL")
    }

    @Test("A list with prefetching, and its log")
    func list() async throws {
        let lines = LogLines()
        let feed = Feed((0..<30).map { origin.url("/\($0)") }, resources: resources, logger: lines.logger)
        feed.comeNear(0..<6, gone: 0..<0)
        #expect(await feed.settle() == 6)
        #expect(try await feed.photograph(3).width == 160)
        #expect(origin.log.requests.count == 6)
        #expect(lines.all.count { $0 == "prefetch started" } == 6)
        #expect(lines.all.count { $0 == "download started" } == 6)
        #expect(lines.all.suffix(3) == ["load started", "cache hit", "delivered"])
    }

    @Test("Server cache control with the three callbacks")
    func serverControl() async throws {
        let loader = loaderUnderServerControl(resources)
        let url = origin.url("/a")
        func told() async -> [String] {
            var told: [String] = []
            await loadUnderServerControl(
                url, loader: loader, hasCache: { _, source in told.append("has cache: \(source)") },
                sendingRequest: { told.append("sending request: \($0)") },
                requestCompleted: { _, image, source in
                    told.append("completed: \(source.map { "\($0)" } ?? "none"), image: \(image != nil)")
                })
            return told
        }
        #expect(await told() == ["sending request: false", "completed: network, image: true"])
        #expect(await told() == ["has cache: memory"])
        clock.advance(by: .seconds(61))
        let expired = await told()
        #expect(expired.first?.hasPrefix("has cache") == true)
        #expect(expired.dropFirst() == ["sending request: true", "completed: revalidated, image: false"])
    }

    @Test("Options and policies with all four states")
    @MainActor
    func states() async throws {
        origin.script("/flaky", .init(status: 503), .init(body: picture))
        let photo = RemotePhoto(origin.url("/flaky"), loader: ImageLoader(resources))
        #expect(photo.text == "nothing")
        photo.appear()
        #expect(photo.text == "loading")
        try await clock.sleepers(1)
        photo.disappear()
        #expect(photo.text == "nothing")
        photo.appear()
        try await passDelay()
        while photo.text == "loading" || photo.text.hasSuffix("%") { await Task.yield() }
        #expect(photo.text == "failed: httpStatus")
        photo.tapRetry()
        #expect(photo.text == "loading")
        try await passDelay()
        while photo.text == "loading" || photo.text.hasSuffix("%") { await Task.yield() }
        #expect(photo.text == "120×90")
    }

    private func passDelay() async throws {
        try await clock.sleepers(1)
        clock.advance(by: .milliseconds(250))
    }

    @Test("Under ServiceLifecycle the loader ends with the program")
    func service() async throws {
        let loader = ImageLoader(resources)
        _ = try await loader.load(origin.url("/a"))
        let group = ServiceGroup(services: [PipelineService(loader)], logger: Logger(label: "example"))
        async let running: Void = group.run()
        await group.triggerGracefulShutdown()
        try await running
        let error = await #expect(throws: LoadError.self) { try await loader.load(self.origin.url("/a")) }
        #expect(error?.code == .refused)
    }
}

/// Keeps the lines of a log.
final class LogLines: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    var logger: Logger { Logger(label: "feed") { _ in Handler(lines: self) } }

    private struct Handler: LogHandler {
        let lines: LogLines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.debug

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { lines.lines.withLock { $0.append("\(event.message)") } }
    }
}
