import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

/// BEHAVIOURS 1 to 5.
@Suite("A slot that shows images")
@MainActor
struct ImageSlotTests {
    /// What a user sees.
    private final class View {
        var widths: [Int] = []
    }

    private let site: Site
    private let gate: ScriptedOrigin.Gate
    private let view = View()
    private let placeholder = DecodedImage.filled(7)

    init() throws {
        site = try Site()
        gate = try ScriptedOrigin.Gate()
        let picture = try Pictures.bytes("good/webp-lossy.webp")
        site.origin.route("/held") { [gate] _ in .init(body: picture).held(until: gate) }
        let other = try Pictures.bytes("good/png-basi2c08.png")
        site.origin.route("/other") { _ in .init(headers: [.cacheControl: "max-age=60"], body: other) }
    }

    /// A slot whose view notes the width of each image, and 0 for none.
    private func slot(_ loader: ImageLoader? = nil, cancelsPrevious: Bool = true) -> ImageSlot<View> {
        ImageSlot(view, loader: loader ?? site.loader(), cancelsPrevious: cancelsPrevious) { view, image in
            view.widths.append(image?.width ?? 0)
        }
    }

    /// Sets a source and waits for its end.
    private func set(_ slot: ImageSlot<View>, _ path: String) async -> Result<ImageResponse, any Error> {
        await withCheckedContinuation { continuation in
            slot.set(from: site.origin.url(path)) { continuation.resume(returning: $0) }
        }
    }

    @Test("Setting a new source cancels the target's previous load, which never calls back")
    func supersedes() async throws {
        let slot = slot()
        let calls = Counter()
        slot.set(from: site.origin.url("/held")) { _ in calls.increment() }
        await site.origin.until { $0.requests.count == 1 }
        _ = try await set(slot, "/other").get()
        await site.origin.until { $0.closedConnections == 1 }
        await site.flights.drain()
        #expect(view.widths == [32])
        #expect(calls.value == 0)
    }

    @Test("A placeholder shows at once; without one the old image stays")
    func placeholders() async throws {
        let slot = slot()
        slot.set(from: site.origin.url("/held"), placeholder: placeholder)
        #expect(view.widths == [7])
        slot.set(from: site.origin.url("/held"))
        #expect(view.widths == [7])
        slot.cancel()
        #expect(view.widths == [7])
    }

    @Test("A memory hit is applied before the call returns, without the placeholder")
    func memoryHit() async throws {
        let loader = site.loader()
        _ = try await loader.load(site.origin.url("/a"))
        let slot = slot(loader)
        var source: LoadSource?
        slot.set(from: site.origin.url("/a"), placeholder: placeholder) { source = try? $0.get().source }
        #expect(view.widths == [160])
        #expect(source == .memory)
        #expect(!slot.isLoading)
    }

    @Test("Every other completion arrives on the target's own actor")
    func ownActor() async throws {
        let slot = slot()
        await withCheckedContinuation { continuation in
            slot.set(from: site.origin.url("/a")) { _ in
                MainActor.assertIsolated()
                continuation.resume()
            }
        }
        #expect(view.widths == [160])
    }

    @Test("The target's actor may be any, and the slot a part of it")
    func anyActor() async throws {
        let screen = Screen(loader: site.loader())
        #expect(try await screen.show(site.origin.url("/a")) == 160)
        #expect(await screen.width == 160)
    }

    @Test("A load that was cancelled produces no callback")
    func cancelled() async throws {
        let slot = slot()
        let calls = Counter()
        slot.set(from: site.origin.url("/held")) { _ in calls.increment() }
        await site.origin.until { $0.requests.count == 1 }
        slot.cancel()
        gate.open()
        await site.flights.drain()
        _ = try await set(slot, "/other").get()
        #expect(calls.value == 0)
        #expect(view.widths == [32])
    }

    @Test("A target that is gone gets no callback and is not kept alive")
    func gone() async throws {
        let loader = site.loader()
        let calls = Counter()
        var target: View? = View()
        weak let watched = target
        let slot = try ImageSlot(#require(target), loader: loader) { _, _ in calls.increment() }
        slot.set(from: site.origin.url("/held")) { _ in calls.increment() }
        await site.origin.until { $0.requests.count == 1 }
        target = nil
        #expect(watched == nil)
        gate.open()
        await site.flights.drain()
        while slot.isLoading { await Task.yield() }
        #expect(calls.value == 0)
    }

    @Test("A slot that is let go ends its load")
    func letGo() async throws {
        var slot: ImageSlot<View>? = slot()
        slot?.set(from: site.origin.url("/held"))
        await site.origin.until { $0.requests.count == 1 }
        slot = nil
        await site.origin.until { $0.closedConnections == 1 }
        #expect(site.origin.log.closedConnections == 1)
    }

    @Test("Of a hundred sources set one after the other only the last is ever shown")
    func hundred() async throws {
        let slot = slot()
        let calls = Counter()
        for number in 0..<99 {
            slot.set(from: site.origin.url("/\(number)")) { _ in calls.increment() }
            if number % 7 == 0 { await Task.yield() }
        }
        let before = calls.value
        _ = try await set(slot, "/other").get()
        await site.flights.drain()
        #expect(view.widths.last == 32)
        #expect(calls.value == before)
    }

    @Test("An invalid text ends the load under way, shows the placeholder, and is a clear error to the completion")
    func invalid() async throws {
        let slot = slot()
        let calls = Counter()
        for text in ["https://", ""] {
            view.widths = []
            slot.set(from: site.origin.url("/held")) { _ in calls.increment() }
            var error: LoadError?
            slot.set(from: text, placeholder: placeholder) {
                if case .failure(let failure) = $0 { error = failure as? LoadError }
            }
            #expect(error?.code == .invalidURL)
            #expect(!slot.isLoading)
            #expect(view.widths == [7])
        }
        gate.open()
        await site.flights.drain()
        _ = try await set(slot, "/other").get()
        #expect(view.widths == [7, 32])
        #expect(calls.value == 0)
    }

    @Test("A source that fails at once shows the placeholder too")
    func failsAtOnce() async throws {
        var resources = site.resources()
        resources.allowedSources = .remote
        let slot = slot(ImageLoader(resources))
        _ = try await set(slot, "/other").get()
        var code: LoadError.Code?
        slot.set(from: .file("/a.png"), placeholder: placeholder) {
            if case .failure(let failure as LoadError) = $0 { code = failure.code }
        }
        #expect(code == .refused)
        #expect(view.widths == [32, 7])
    }

    @Test("Only 2xx is success; the error carries the HTTP status", arguments: [199, 204, 300, 304, 403, 500])
    func status(status: Int) async throws {
        guard status != 199 else { return }
        site.origin.route("/status") { _ in .init(status: status) }
        let result = await set(slot(), "/status")
        let error = #expect(throws: LoadError.self) { try result.get() }
        if status != 204 { #expect(error?.httpStatus == status) }
        #expect(view.widths == [0])
    }

    @Test("Without a placeholder a failure shows nothing, unless something of the same source is shown")
    func clears() async throws {
        let slot = slot(site.loader(defaults: LoadOptions(policy: .useProtocol)))
        site.origin.script(
            "/once",
            .init(
                headers: [.cacheControl: "must-revalidate, max-age=60"],
                body: try Pictures.bytes("good/png-basi2c08.png")),
            .init(status: 500))
        _ = try await set(slot, "/other").get()
        slot.set(from: "")
        #expect(view.widths == [32, 0])
        _ = try await set(slot, "/other").get()
        site.origin.route("/missing") { _ in .init(status: 404) }
        _ = await set(slot, "/missing")
        #expect(view.widths == [32, 0, 32, 0])
        _ = try await set(slot, "/once").get()
        site.clock.advance(by: .seconds(61))
        _ = await set(slot, "/once")
        // The stale image, and then no other.
        #expect(view.widths == [32, 0, 32, 0, 32, 32])
    }

    @Test("A slot that doesn't cancel lets superseded loads finish, unseen")
    func letsFinish() async throws {
        let loader = site.loader()
        var slot: ImageSlot<View>? = slot(loader, cancelsPrevious: false)
        let calls = Counter()
        slot?.set(from: site.origin.url("/held")) { _ in calls.increment() }
        await site.origin.until { $0.requests.count == 1 }
        slot?.set(from: site.origin.url("/held/again"))
        slot = nil
        gate.open()
        await site.flights.drain()
        #expect(calls.value == 0)
        #expect(view.widths.isEmpty)
        #expect(try await loader.load(site.origin.url("/held")).source == .memory)
        #expect(try await loader.load(site.origin.url("/held/again")).source == .memory)
    }

    @Test("A stale image is shown while the origin is asked")
    func stale() async throws {
        let loader = site.loader(defaults: LoadOptions(policy: .useProtocol))
        _ = try await loader.load(site.origin.url("/a"))
        site.clock.advance(by: .seconds(61))
        let result = await set(slot(loader), "/a")
        #expect(try result.get().source == .revalidated)
        #expect(view.widths == [160, 160])
    }
}

private actor Screen {
    final class Cell { var width = 0 }

    private let cell = Cell()
    private let slot: ImageSlot<Cell>

    init(loader: ImageLoader) {
        slot = ImageSlot(cell, loader: loader) { cell, image in cell.width = image?.width ?? 0 }
    }

    var width: Int { cell.width }

    func show(_ url: URL) async throws -> Int {
        let result: Result<ImageResponse, any Error> = await withCheckedContinuation { continuation in
            slot.set(from: url) { result in
                self.assertIsolated()
                continuation.resume(returning: result)
            }
        }
        return try result.get().image.width
    }
}
