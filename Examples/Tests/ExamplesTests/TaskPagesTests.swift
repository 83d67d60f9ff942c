import Foundation
import Logging
import PipelineMetrics
import PipelineTesting
import PipelineTracing
import QOI
import Stages
import Testing

@testable import StageOfYourOwn

@Suite("The code of the task pages")
final class TaskPagesTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "examples-\(UUID().uuidString)")
    private let origin: ScriptedOrigin
    private static let animation = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../Tests/Images/good/gif-animated.gif").standardizedFileURL

    init() throws {
        let picture = Picture.png(PixelSize(width: 3, height: 2))
        origin = try ScriptedOrigin { _ in .init(headers: [.cacheControl: "max-age=60"], body: picture) }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func resources(_ clock: any LoadClock = SystemClock()) -> PipelineResources {
        PipelineResources(
            memory: MemoryCache(), responses: HTTPCache(folder: folder.path, clock: clock),
            client: CurlClient(.init(addresses: .any)))
    }

    @Test("Offline, what is cached is found, and a miss has an error of its own")
    func offline() async throws {
        let loader = ImageLoader(resources())
        let url = origin.url("/cat.png")
        let offline = LoadOptions(policy: .returnCacheDontLoad())
        var shown: DecodedImage?
        do {
            shown = try await loader.load(url, options: offline).image
        } catch let error as LoadError where error.code == .notCached {
            // A placeholder is shown.
        }
        #expect(shown == nil)

        let prefetcher = Prefetcher(loader, destination: .disk)
        prefetcher.start([url])
        for await _ in prefetcher.progress {}
        let response = try await loader.load(url, options: offline)
        #expect(response.source == .disk)
        #expect(origin.log.requests.count == 1)
    }

    @Test("A stale image stands in for an origin that answers with errors, if the options allow it")
    func outage() async throws {
        let clock = ManualClock()
        let loader = ImageLoader(resources(clock))
        let url = origin.url("/cat.png")
        _ = try await loader.load(url)
        clock.advance(by: .seconds(3600))
        origin.route("/cat.png") { _ in .init(status: 503) }
        let options = LoadOptions(staleIfError: .seconds(24 * 60 * 60))
        let response = try await loader.load(url, options: options)
        if response.isStale { print("The server fails; this image is an older one.") }
        #expect(response.isStale)
        await #expect(throws: LoadError.self) { try await loader.load(url) }
    }

    @Test("A smaller copy of a picture is told from another picture by its hash")
    func likeness() async throws {
        let images = Self.animation.deletingLastPathComponent()
        func picture(_ name: String, _ size: PixelSize? = nil) async throws -> DecodedImage {
            let bytes = [UInt8](try Data(contentsOf: images.appending(path: name)))
            return try await DecodedImage(decoding: bytes, maxPixelSize: size)
        }
        func isCopy(_ left: DecodedImage, _ right: DecodedImage) async throws -> Bool {
            let isCopy = (try await left.differenceHash() ^ right.differenceHash()).nonzeroBitCount <= 10
            return isCopy
        }
        let photograph = try await picture("jpeg-progressive-444.jpg")
        #expect(try await isCopy(photograph, picture("jpeg-progressive-444.jpg", 100)))
        #expect(try await !isCopy(photograph, picture("webp-lossless.webp")))
    }

    @Test("A list without network and cache makes a thumbnail of a file")
    func thumbnail() async throws {
        let thumbnails = ImagePipeline {
            ReadFile()
            Decode()
            Downscale()
            Encode(.webp)
        }
        let response = try await thumbnails.load(ImageRequest(Self.animation, maxPixelSize: 10))
        #expect(response.encoded?.bytes.starts(with: "RIFF".utf8) == true)
        #expect(response.size?.width == 10)
    }

    @Test("A caching client asks the origin once")
    func cachingClient() async throws {
        let (folder, url) = (folder.path, origin.url("/cat.png"))
        let client = CachingClient(cache: HTTPCache(folder: folder), client: CurlClient(.init(addresses: .any)))
        let response = try await client.send(CachingRequest(url: url))
        #expect(response.status == 200)
        _ = try await client.send(CachingRequest(url: url))
        #expect(origin.log.requests.count == 1)
    }

    @Test("A loader takes a format that its resources name")
    func format() async throws {
        var resources = resources()
        resources.codecs = ImageCodecs.standard.adding(.qoi)
        #expect(resources.codecs.codec(for: .qoi) != nil)
    }

    @Test("An animation is decoded with its delays, changed and written again")
    func animations() async throws {
        let file = Self.animation
        let pipeline = ImagePipeline {
            ReadFile()
            Decode(limits: ImageLimits(frames: 100))
            Downscale()
            Encode(.webp)
        }
        let response = try await pipeline.load(ImageRequest(file, maxPixelSize: 32))
        let bytes = response.encoded?.bytes ?? []
        let written = try await ImagePipeline {
            ReadInline()
            Decode(limits: ImageLimits(frames: 100))
        }.load(ImageRequest(.bytes(bytes)))
        #expect(written.image?.frames.count == 4)
        let delays = (written.image?.frames ?? []).map(\.delay)
        #expect(delays.allSatisfy { $0 > .zero })
    }

    @Test("A toolkit's loop lets the main actor run, and gets RGBA")
    func toolkit() async throws {
        let process = Process()
        process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appending(path: "ToolkitLoop")
        process.arguments = [Self.animation.path]
        process.environment = ["XDG_CACHE_HOME": folder.path]
        let output = Pipe()
        process.standardOutput = output
        let ended = AsyncStream<Void> { continuation in process.terminationHandler = { _ in continuation.finish() } }
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        for await _ in ended {}
        #expect(text.contains(/^([0-9]+)×([0-9]+) in [0-9]+ bytes$/.anchorsMatchLineEndings()), "\(text)")
    }

    @Test("Logs, metrics and spans observe a loader's loads")
    func observers() async throws {
        let resources = resources()
        let loader = ImageLoader(
            resources,
            observers: [LoadLog(Logger(label: "images")), LoadMetrics(resources), LoadTracing()])
        let url = origin.url("/cat.png")
        let response = try await loader.load(url)
        if let fetch = response.trace.entries.first(where: { $0.stage == "Fetch" }) {
            print("The network took \(fetch.duration).")
        }
        #expect(response.source == .network)
        #expect(response.trace.entries.contains { $0.stage == "Fetch" && $0.outcome == .done })
    }

    @Test("The stage keeps to the contract of stages")
    func contract() async throws { try await StageSpec(RefuseHost(host: "tracker.example")).check() }

    @Test("An image expires after its server's minute")
    func expiry() async throws {
        let clock = ManualClock()
        let responses = HTTPCache(inMemory: 10_000_000, clock: clock)
        let resources = PipelineResources(
            memory: MemoryCache(), responses: responses, client: CurlClient(.init(addresses: .any)))
        let pipeline = ImagePipeline.returnCacheElseLoad(resources)
        let request = ImageRequest(origin.url("/cat.png"))
        _ = try await pipeline.load(request)
        clock.advance(by: .seconds(59))
        #expect(try await pipeline.load(request).source == .memory)
        clock.advance(by: .seconds(1))
        #expect(try await pipeline.load(request).source == .network)
        #expect(origin.log.requests.count == 2)
    }

    @Test("A refused host is never asked")
    func refused() async throws {
        let pipeline = ImagePipeline {
            RefuseHost(host: "127.0.0.1")
            Fetch(CurlClient(.init(addresses: .any)))
        }
        let error = await #expect(throws: LoadError.self) { try await pipeline.load(ImageRequest(origin.url("/a"))) }
        try expectTrace(#require(error).trace, "RefuseHost failed")
        #expect(origin.log.requests.isEmpty)
    }
}
