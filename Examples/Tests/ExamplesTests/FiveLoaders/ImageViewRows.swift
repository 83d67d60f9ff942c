import FiveLoaders
import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import Testing

@Suite("Rows of a view that loads into itself", .timeLimit(.minutes(5)))
@MainActor
struct ImageViewRows {
    /// What a user sees: the width of each image, 0 for none.
    private final class View {
        var widths: [Int] = []
    }

    private let site: LoaderSite
    private let view = View()
    private let placeholder = DecodedImage(size: 1, layout: .gray, pixels: [230])

    init() throws { site = try LoaderSite() }

    private func slot(_ loader: ImageLoader? = nil) -> ImageSlot<View> {
        ImageSlot(view, loader: loader ?? site.loader()) { view, image in view.widths.append(image?.width ?? 0) }
    }

    private func set(_ slot: ImageSlot<View>, _ source: ImageSource) async -> Result<ImageResponse, any Error> {
        await withCheckedContinuation { continuation in
            slot.set(from: source) { continuation.resume(returning: $0) }
        }
    }

    private func set(_ slot: ImageSlot<View>, _ path: String) async -> Result<ImageResponse, any Error> {
        await set(slot, .url(site.url(path)))
    }

    @Test("A text or a URL is set, with a placeholder and a completion")
    func set() async throws {
        let slot = slot()
        _ = try await set(slot, "/a").get()
        await withCheckedContinuation { continuation in
            slot.set(from: site.url("/b").absoluteString, placeholder: placeholder) { _ in continuation.resume() }
        }
        #expect(view.widths == [160, 1, 160])
    }

    @Test("The placeholder shows before the call returns")
    func placeholderAtOnce() {
        let slot = slot()
        slot.set(from: site.url("/held"), placeholder: placeholder)
        #expect(view.widths == [1])
    }

    @Test("A cached image is applied before the call returns, without the placeholder")
    func cachedAtOnce() async throws {
        let slot = slot()
        _ = try await set(slot, "/a").get()
        var isDone = false
        slot.set(from: site.url("/a"), placeholder: placeholder) { _ in isDone = true }
        #expect(isDone)
        #expect(view.widths == [160, 160])
    }

    @Test("The completion is called on the main actor")
    func mainActor() async {
        let slot = slot()
        await withCheckedContinuation { continuation in
            slot.set(from: site.url("/a")) { _ in
                MainActor.assertIsolated()
                continuation.resume()
            }
        }
    }

    @Test("Network errors and data that isn't an image fail with an error each")
    func failures() async {
        site.origin.route("/text") { _ in .init(body: "no image") }
        site.origin.route("/html") { _ in .init(headers: [.contentType: "text/html"], body: "<p>") }
        let slot = slot()
        let sources: [(ImageSource, LoadError.Code)] = [
            (.url(site.url("/missing")), .httpStatus), (.url(site.url("/text")), .undecodable),
            (.url(site.url("/html")), .unsupportedType), (.file("/no/such/file"), .fileNotFound),
        ]
        for (source, expected) in sources {
            let result = await set(slot, source)
            #expect(await code { _ = try result.get() } == expected)
        }
    }

    @Test("localizedDescription says what happened and what to do")
    func localized() async {
        let result = await set(slot(), "/missing")
        guard case .failure(let error) = result else { return #expect(Bool(false)) }
        #expect(error.localizedDescription.contains("The origin answered 404"))
    }

    @Test("A new request cancels the one before")
    func supersedes() async throws {
        let loader = site.loader()
        let slot = slot(loader)
        slot.set(from: site.url("/held")) { _ in Issue.record("superseded") }
        await site.origin.until { $0.requests.count == 1 }
        _ = try await set(slot, "/a").get()
        // The gate is shut: only a cancelled request ends.
        await loader.resources.flights.drain()
        #expect(view.widths == [160])
    }

    @Test("A load that is cancelled calls nothing back, and the image stays")
    func cancel() async throws {
        let loader = site.loader()
        let slot = slot(loader)
        _ = try await set(slot, "/a").get()
        slot.set(from: site.url("/held")) { _ in Issue.record("cancelled") }
        slot.cancel()
        #expect(!slot.isLoading)
        await loader.resources.flights.drain()
        #expect(view.widths == [160])
    }

    @Test("Of 200 images set at once the last alone is shown")
    func races() async throws {
        let slot = slot()
        for number in 0..<199 { slot.set(from: site.url("/held/\(number)")) { _ in Issue.record("superseded") } }
        _ = try await set(slot, "/last").get()
        #expect(view.widths == [160])
    }

    @Test("The target is not kept alive, and nothing calls back once it is gone")
    func targetIsGone() async {
        let loader = site.loader()
        var target: View? = View()
        weak let watched = target
        let slot = target.map { ImageSlot($0, loader: loader) { _, _ in Issue.record("gone") } }
        slot?.set(from: site.url("/held")) { _ in Issue.record("gone") }
        target = nil
        #expect(watched == nil)
        site.gate.open()
        await loader.resources.flights.drain()
        while slot?.isLoading == true { await Task.yield() }
    }

    @Test("An invalid text in a cell that is used again shows no picture of another item")
    func invalidText() async throws {
        let slot = slot()
        for placeholder in [placeholder, nil] {
            view.widths = []
            _ = try await set(slot, "/a").get()
            slot.set(from: site.url("/held")) { _ in Issue.record("superseded") }
            var error: LoadError?
            slot.set(from: "", placeholder: placeholder) {
                if case .failure(let failure as LoadError) = $0 { error = failure }
            }
            #expect(error?.code == .invalidURL)
            #expect(view.widths == [160, placeholder == nil ? 0 : 1])
        }
    }

    @Test("A text that isn't a URL is a path, or a URL without its scheme; where files are not allowed it is refused")
    func noURL() async {
        let slot = slot()
        for (text, expected) in [("not a url", LoadError.Code.fileNotFound), ("example.com/a.png", .invalidURL)] {
            let result = await withCheckedContinuation { continuation in
                slot.set(from: text) { continuation.resume(returning: $0) }
            }
            #expect(await code { _ = try result.get() } == expected)
        }
        var resources = site.resources()
        resources.allowedSources = .remote
        let result = await set(self.slot(ImageLoader(resources)), .file("not a url"))
        #expect(await code { _ = try result.get() } == .refused)
    }

    @Test("Memory has a limit of images and one of bytes")
    func limits() async throws {
        let memory = MemoryCache(byteLimit: 600_000, countLimit: 3)
        let loader = ImageLoader(site.resources(memory: memory))
        for path in ["/a", "/b", "/c", "/d"] { _ = try await loader.load(site.url(path)) }
        #expect(memory.count == 3)
        #expect(memory.byteCount <= 600_000)
    }

    @Test("Each load has its policy and its time-out")
    func policyAndTimeout() async throws {
        let loader = site.loader()
        _ = try await loader.load(site.url("/a"))
        #expect(try await loader.load(site.url("/a"), options: LoadOptions(policy: .ignoreCache())).source == .network)
        let task = loader.task(for: site.url("/held"), options: LoadOptions(timeout: .seconds(2)))
        try await site.passLimit(.seconds(2))
        #expect(await code { _ = try await task.response } == .timedOut)
    }

    @Test("What HTTP allows is on disk after a new start, also behind a redirect")
    func disk() async throws {
        site.origin.route("/moved") { _ in
            .init(status: 301, headers: [.location: "/a", .cacheControl: "max-age=60"])
        }
        #expect(try await site.loader().load(site.url("/moved")).source == .network)
        #expect(try await site.loader().load(site.url("/moved")).source == .disk)
        site.origin.route("/file") { _ in .redirect(to: "file:///etc/passwd") }
        #expect(await code { _ = try await site.loader().load(site.url("/file")) } != nil)
    }

    @Test("This machine's own addresses are refused unless they are allowed")
    func localhost() async throws {
        let loader = ImageLoader(site.resources(client: CurlClient()))
        let error = await #expect(throws: LoadError.self) { try await loader.load(site.url("/a")) }
        #expect(error?.code == .refused)
        #expect(try await site.loader().load(site.url("/a")).source == .network)
    }
}
