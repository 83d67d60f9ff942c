import Foundation
import HTTPTypes
import Observation
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

/// BEHAVIOURS 26.
@Suite("The state of an image that is shown")
@MainActor
struct ImageStateTests {
    private let site: Site
    private let gate: ScriptedOrigin.Gate

    init() throws {
        site = try Site()
        gate = try ScriptedOrigin.Gate()
        let picture = try Pictures.bytes("good/webp-lossy.webp")
        site.origin.route("/held") { [gate] _ in .init(body: picture).held(until: gate, after: 1000) }
    }

    private func image(_ path: String, _ beginning: ImageState.Beginning = .atOnce, cancels: Bool = false) -> ImageState
    {
        ImageState(
            .url(site.origin.url(path)), loader: site.loader(), beginning: beginning, cancelsWhenHidden: cancels)
    }

    /// Waits until the state, told by its observation alone, is as wanted.
    private func until(_ image: ImageState, _ condition: (LoadState) -> Bool) async {
        while true {
            let changed = Gate()
            let isThere = withObservationTracking {
                condition(image.state)
            } onChange: {
                changed.open()
            }
            if isThere { return }
            try? await changed.wait()
        }
    }

    @Test("From empty through progress to the image")
    func success() async throws {
        let image = image("/held", .whenShown)
        #expect(image.state.words == "empty")
        image.shown()
        #expect(image.state.words == "in progress")
        await until(image) { if case .inProgress(.some) = $0 { true } else { false } }
        guard case .inProgress(let fraction?) = image.state else { throw Unexpected() }
        #expect(fraction > 0 && fraction < 1)
        gate.open()
        await until(image) { $0.isOver }
        #expect(image.state.words == "success: network")
    }

    @Test("Retry works after a failure, and after a success it reloads")
    func retry() async throws {
        let picture = try Pictures.bytes("good/webp-lossy.webp")
        site.origin.script(
            "/flaky", .init(status: 503), .init(headers: [.cacheControl: "max-age=60"], body: picture))
        let image = image("/flaky")
        await until(image) { $0.isOver }
        guard case .failure(let error, let retry) = image.state else { throw Unexpected() }
        #expect(error.httpStatus == 503)
        #expect(image.state == .failure(error, retry: retry))
        #expect(image.state != .inProgress(nil))
        retry()
        #expect(image.state.words == "in progress")
        await until(image) { $0.isOver }
        #expect(image.state.words == "success: network")
        image.start()
        await until(image) { $0.isOver }
        #expect(image.state.words == "success: network")
        #expect(site.requests == 3)
    }

    @Test("What no cache has and may not be fetched is empty, not a failure")
    func notCached() async throws {
        let image = ImageState(
            .url(site.origin.url("/a")), loader: site.loader(defaults: LoadOptions(policy: .returnCacheDontLoad())),
            beginning: .atOnce)
        await until(image) { if case .empty = $0 { true } else { false } }
        #expect(site.requests == 0)
    }

    @Test("It begins at once or when shown; hiding cancels it only where that is asked for")
    func shownAndHidden() async throws {
        let patient = image("/held", .atOnce)
        await site.origin.until { $0.requests.count == 1 }
        patient.hidden()
        #expect(patient.state.words == "in progress")
        patient.cancel()
        #expect(patient.state.words == "empty")
        await site.origin.until { $0.closedConnections == 1 }

        let thrifty = image("/held", .whenShown, cancels: true)
        thrifty.hidden()
        #expect(thrifty.state.words == "empty")
        thrifty.shown()
        await site.origin.until { $0.requests.count == 2 }
        thrifty.hidden()
        #expect(thrifty.state.words == "empty")
        await site.origin.until { $0.closedConnections == 2 }
        thrifty.shown()
        gate.open()
        await until(thrifty) { $0.isOver }
        thrifty.shown()
        #expect(thrifty.state.words == "success: network")
        #expect(site.requests == 3)
    }

    @Test("An image in memory is there as soon as it is shown")
    func memory() async throws {
        let loader = site.loader()
        _ = try await loader.load(site.origin.url("/a"))
        let image = ImageState(.url(site.origin.url("/a")), loader: loader)
        image.shown()
        #expect(image.state.words == "success: memory")
    }

    @Test("States are equal if a view would show the same, whatever their traces say")
    func equality() async throws {
        let loader = site.loader()
        let url = site.origin.url("/a")
        _ = try await loader.load(url)
        let (first, second) = (try await loader.load(url), try await loader.load(url))
        #expect(LoadState.success(first) == .success(second))
        #expect(ImageTaskEvent.hasCache(first.image, source: .memory) == .hasCache(second.image, source: .memory))
        // The same pixels in memory of their own.
        let again = try await site.loader().load(url)
        #expect(again.image == first.image)
        #expect(LoadState.success(again) != .success(first))
        let small = try await loader.load(url, options: LoadOptions(maxPixelSize: 10))
        #expect(small.image != first.image)
    }

    @Test("A retry from another actor starts the load on the state's own")
    func retryElsewhere() async throws {
        let picture = try Pictures.bytes("good/webp-lossy.webp")
        site.origin.script("/flaky", .init(status: 503), .init(body: picture))
        let image = image("/flaky")
        await until(image) { $0.isOver }
        guard case .failure(_, let retry) = image.state else { throw Unexpected() }
        await Elsewhere().call(retry)
        await until(image) { if case .success = $0 { true } else { false } }
    }

    private actor Elsewhere { func call(_ retry: LoadState.Retry) { retry() } }

    @Test("A state that is let go ends its load")
    func letGo() async throws {
        var image: ImageState? = image("/held")
        await site.origin.until { $0.requests.count == 1 }
        #expect(image?.state.words == "in progress")
        image = nil
        await site.origin.until { $0.closedConnections == 1 }
        #expect(site.origin.log.closedConnections == 1)
    }
}

extension LoadState {
    fileprivate var words: String {
        switch self {
        case .empty: "empty"
        case .inProgress: "in progress"
        case .failure: "failure"
        case .success(let response): "success: \(response.source)"
        }
    }

    fileprivate var isOver: Bool {
        switch self {
        case .empty, .inProgress: false
        case .failure, .success: true
        }
    }
}
