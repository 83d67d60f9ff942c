import Foundation
import HTTPTypes
import Logging
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

/// BEHAVIOURS 11.
@Suite("What a loader tells its observers")
struct LoadObserverTests {
    private let site: Site
    private let recorder = ObservationRecorder()

    init() throws { site = try Site() }

    private func loader() -> ImageLoader { ImageLoader(site.resources(), observers: [recorder]) }

    @Test("A download is told from its start to its delivery, then hits in memory and on disk")
    func download() async throws {
        let loader = loader()
        let url = site.origin.url("/a")
        _ = try await loader.load(url)
        _ = try await loader.load(url)
        _ = try await self.loader().load(url)
        #expect(
            recorder.wordsOfLoads == [
                ["started", "download started", "stored: disk", "stored: memory", "delivered: network"],
                ["started", "cache hit: memory", "delivered: memory"],
                ["started", "stored: memory", "cache hit: disk", "delivered: disk"],
            ])
    }

    @Test("A load that joins another is told as already loading; the download is told once")
    func joined() async throws {
        let gate = try ScriptedOrigin.Gate()
        let picture = try Pictures.bytes("good/webp-lossy.webp")
        site.origin.route("/held") { _ in .init(body: picture).held(until: gate) }
        let loader = loader()
        let url = site.origin.url("/held")
        let first = loader.task(for: url)
        await site.origin.until { $0.requests.count == 1 }
        let second = loader.task(for: url)
        let small = loader.task(for: url, options: LoadOptions(maxPixelSize: 16))
        await site.flights.reaches(waiters: 5)
        gate.open()
        for task in [first, second, small] { _ = try await task.response }
        #expect(recorder.words.count { $0 == "download started" } == 1)
        #expect(recorder.words.count { $0 == "already loading" } == 2)
        #expect(recorder.words.count { $0 == "stored: disk" } == 1)
        #expect(recorder.words.count { $0 == "delivered: network" } == 3)
    }

    @Test("Failures and cancellations are told with the stage and the image's key")
    func ends() async throws {
        let gate = try ScriptedOrigin.Gate()
        site.origin.script("/gone", .init(status: 404))
        site.origin.route("/held") { _ in ScriptedOrigin.Reply().held(until: gate) }
        let loader = loader()
        let gone = site.origin.url("/gone")
        await #expect(throws: LoadError.self) { try await loader.load(gone) }
        let task = Task { try await loader.load(site.origin.url("/held")) }
        await site.origin.until { $0.requests.count == 2 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(
            recorder.wordsOfLoads == [
                ["started", "download started", "failed"], ["started", "download started", "cancelled"],
            ])
        let failed = try #require(recorder.observations.first { $0.words == "failed" })
        #expect(failed.stage == "Fetch")
        #expect(failed.key == SourceKey(ImageRequest(gone)))
    }

    @Test("A log has a line for each, with the image, its key and the stage, and no credentials")
    func log() async throws {
        let lines = Lock<[String]>([])
        let logger = Logger(label: "test") { _ in LineHandler { line in lines.withLock { $0.append(line) } } }
        let loader = ImageLoader(site.resources(), observers: [LoadLog(logger)])
        _ = try await loader.load(site.origin.url("/a?token=secret"))
        let written = lines.withLock { $0 }
        #expect(
            written.map { $0.prefix { $0 != "|" } } == [
                "load started", "download started", "stored", "stored", "delivered",
            ])
        #expect(written.allSatisfy { $0.contains("image.key=") && !$0.contains("secret") })
    }

    @Test("A log notes wasted work: an image prefetched in another size, and a download that was cancelled late")
    func waste() async throws {
        let (notices, gate) = (Lock<[String]>([]), try ScriptedOrigin.Gate())
        let logger = Logger(label: "test") { _ in
            LineHandler(logLevel: .notice) { line in notices.withLock { $0.append(line) } }
        }
        let loader = ImageLoader(site.resources(), observers: [LoadLog(logger)])
        let (url, half) = (site.origin.url("/a"), site.origin.url("/half"))
        let prefetcher = Prefetcher(loader, options: LoadOptions(maxPixelSize: 80))
        prefetcher.start([url])
        for await _ in prefetcher.progress {}
        #expect(notices.withLock(\.self) == [])
        _ = try await loader.load(url, options: LoadOptions(maxPixelSize: 40))
        #expect(
            notices.withLock(\.self).map { $0.prefix { $0 != "|" } } == [
                "delivered; prefetched at 80×80, asked for 40×40: decoded again"
            ])
        let picture = try Pictures.bytes("good/webp-lossy.webp")
        site.origin.route("/half") { _ in .init(body: picture).held(until: gate, after: 1000) }
        let (arrived, send) = AsyncStream<Void>.makeStream()
        let load = Task {
            try await loader.load(.url(half)) { event in if case .progress = event { send.finish() } }
        }
        for await _ in arrived {}
        load.cancel()
        await #expect(throws: CancellationError.self) { try await load.value }
        let last = try #require(notices.withLock(\.last))
        #expect(last.contains(/^cancelled after [0-9]{4,} bytes\|/) && last.contains("/half"), "\(last)")
        gate.open()
    }
}

/// Makes a line of each message and its metadata.
private struct LineHandler: LogHandler {
    let write: @Sendable (String) -> Void
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level

    init(logLevel: Logger.Level = .trace, _ write: @escaping @Sendable (String) -> Void) {
        self.logLevel = logLevel
        self.write = write
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let words = (event.metadata ?? [:]).map { "\($0)=\($1)" }.sorted()
        write("\(event.message)|" + words.joined(separator: " "))
    }
}
