import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages

/// An origin with a picture of 160×120 pixels at any path, a clock, and a cache folder that goes with the test.
final class LoaderSite: Sendable {
    let origin: ScriptedOrigin
    let gate: ScriptedOrigin.Gate
    let clock = ManualClock()
    let folder = FileManager.default.temporaryDirectory.appending(path: "examples-\(UUID().uuidString)")
    let picture = Picture.png(PixelSize(width: 160, height: 120))

    /// Serves pictures with these fields; a request that names its tag gets 304. Paths that begin with `/held` wait for the
    /// gate, and `/missing` isn't there.
    init(_ headers: HTTPFields = [.cacheControl: "max-age=60", .eTag: "\"1\""]) throws {
        let gate = try ScriptedOrigin.Gate()
        let picture = picture
        self.gate = gate
        origin = try ScriptedOrigin { request in
            if request.path == "/missing" { return .init(status: 404) }
            let isKnown = request.headers[.ifNoneMatch] != nil && request.headers[.ifNoneMatch] == headers[.eTag]
            let reply: ScriptedOrigin.Reply =
                isKnown ? .init(status: 304, headers: headers) : .init(headers: headers, body: picture)
            return request.path.hasPrefix("/held") ? reply.held(until: gate) : reply
        }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Long limits, since the tests share the machine.
    private static var options: CurlClient.Options {
        var options = CurlClient.Options()
        options.addresses = .any
        options.stallTimeout = .seconds(120)
        options.totalTimeout = .seconds(600)
        return options
    }

    /// What a program has that has just started: nothing in memory, and what is on disk.
    func resources(
        memory: MemoryCache = MemoryCache(), responses: HTTPCache? = nil, client: (any TransferClient)? = nil
    ) -> PipelineResources {
        PipelineResources(
            memory: memory, responses: responses ?? HTTPCache(folder: folder.path, clock: clock),
            client: client ?? CurlClient(Self.options))
    }

    func loader(_ defaults: LoadOptions = LoadOptions()) -> ImageLoader { ImageLoader(resources(), defaults: defaults) }

    func url(_ path: String) -> URL { origin.url(path) }

    var requests: Int { origin.log.requests.count }

    /// Waits for a time limit, and lets it pass.
    func passLimit(_ limit: Duration) async throws {
        try await clock.sleepers(1, includingLimits: true)
        clock.advance(by: limit)
    }

    /// Waits until something sleeps, and lets its time pass.
    func pass(_ duration: Duration) async throws {
        try await clock.sleepers(1)
        clock.advance(by: duration)
    }
}

/// The code of the error that an operation throws; `nil` if it throws none.
func code(_ operation: () async throws -> Void) async -> LoadError.Code? {
    do { try await operation() } catch { return (error as? LoadError)?.code }
    return nil
}

/// What a task tells until its end, in words.
func words(_ task: ImageTask) async -> [String] {
    var words: [String] = []
    for await event in task.events {
        switch event {
        case .hasCache(let image, let source): words.append("hasCache \(image.width) \(source)")
        case .sendingRequest(let didHave): words.append("sendingRequest \(didHave)")
        case .requestCompleted(let error, let image, let source):
            let parts = [error?.code.rawValue, image.map { "\($0.width)" }, source?.rawValue].map { $0 ?? "-" }
            words.append("requestCompleted \(parts.joined(separator: " "))")
        case .progress, .preview: break
        case .cancelled: words.append("cancelled")
        }
    }
    return words
}
