import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

/// BEHAVIOURS 6.
@Suite("Parts that are closures")
struct ClosureTests {
    private struct Trouble: Error {}

    private let clock = ManualClock()
    private let folder = NSTemporaryDirectory() + "pipeline-closures-\(UUID().uuidString)"
    private let url: URL

    init() throws { url = try #require(URL(string: "https://pictures.example/a")) }

    private func loader(_ load: @escaping @Sendable (URL) async throws -> [UInt8]) -> ImageLoader {
        ImageLoader(
            PipelineResources(
                memory: MemoryCache(), responses: HTTPCache(folder: folder, clock: clock),
                client: ClosureClient(load)))
    }

    @Test("A load closure takes the network's place: every tier works, and the expiry decides how long it holds")
    func load() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let picture = try Pictures.bytes("good/webp-lossy.webp")
        let asked = Counter()
        let load = { @Sendable (_: URL) in
            asked.increment()
            return picture
        }
        let first = loader(load)
        #expect(try await first.load(url).source == .network)
        #expect(try await first.load(url).source == .memory)
        let second = loader(load)
        #expect(try await second.load(url).source == .disk)
        clock.advance(by: .seconds(24 * 3600 + 1))
        #expect(try await second.load(url).source == .network)
        #expect(asked.value == 2)
    }

    @Test("Errors tell apart an empty URL, bytes that aren't an image, and a load that failed, with its own error")
    func errors() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let failing = loader { _ in throw Trouble() }
        let error = await failure(.unreachable) { try await failing.load(url) }
        #expect(error?.underlying is Trouble)
        let text = loader { _ in Array("no image".utf8) }
        _ = await failure(.undecodable) { try await text.load(url) }
        #expect(throws: LoadError.self) { try ImageSource(parsing: "") }
        let cancelled = loader { _ in throw CancellationError() }
        await #expect(throws: CancellationError.self) { try await cancelled.load(url) }
    }

    @Test("A client that fails with an error of its own has its request completed with that error")
    func foreignError() async throws {
        struct Broken: TransferClient {
            func send(_ request: TransferRequest) async throws -> TransferResponse { throw Trouble() }
            var urlRule: (@Sendable (URL) -> Bool)? { nil }

            func shutdown() async {}
        }
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let events = Lock<[String]>([])
        let error = await failure(.stageFailed) {
            try await ImagePipeline {
                ResolveIdentifier()
                Fetch(Broken())
            }.load(ImageRequest(url)) { event in
                if case .requestCompleted(_, let error) = event {
                    events.withLock { $0.append(error?.code.rawValue ?? "none") }
                }
            }
        }
        #expect(error?.underlying is Trouble)
        #expect(events.withLock { $0 } == ["stageFailed"])
    }

    @Test("A cache's read and write are closures; what they fail with is a miss, and in the trace")
    func cache() async throws {
        let kept = Lock<[VariantKey: LoadProduct]>([:])
        let isBroken = Lock(false)
        let cache = ClosureCache(
            read: { key in
                if isBroken.withLock({ $0 }) { throw Trouble() }
                return kept.withLock { $0[key] }
            },
            write: { product, key in
                if isBroken.withLock({ $0 }) { throw Trouble() }
                kept.withLock { $0[key] = product }
            })
        let pipeline = ImagePipeline {
            ResolveIdentifier()
            ReadCache(cache)
            ReadInline()
            Decode()
            Downscale()
            WriteCache(cache)
        }
        let request = ImageRequest(.bytes(try Pictures.bytes("good/webp-lossy.webp")))
        #expect(try await pipeline.load(request).source != .memory)
        #expect(try await pipeline.load(request).source == .memory)
        #expect(kept.withLock { $0.count } == 1)
        isBroken.withLock { $0 = true }
        let response = try await pipeline.load(request)
        #expect(response.source != .memory)
        #expect(
            (response.trace.entries(of: ReadCache.self) + response.trace.entries(of: WriteCache.self)).map(\.fact)
                == [.cacheFailed("Trouble()"), .cacheFailed("Trouble()")])
    }

    @Test("Undecodable bytes never reach a cache of closures")
    func undecodable() async throws {
        let writes = Counter()
        let cache = ClosureCache(read: { _ in nil }, write: { _, _ in writes.increment() })
        _ = await failure(.undecodable) {
            try await ImagePipeline {
                ResolveIdentifier()
                ReadInline()
                Decode()
                WriteCache(cache)
            }.load(ImageRequest(.bytes(Array("no image".utf8))))
        }
        #expect(writes.value == 0)
    }

    @Test("A stage and a transform are closures too: the stage has its name in the list, the transform its own key")
    func stages() async throws {
        let memory = MemoryCache()
        func pipeline(_ version: String) -> ImagePipeline {
            ImagePipeline {
                ResolveIdentifier()
                MemoryLookup(memory)
                ReadInline()
                ClosureStage("Refuse", accepts: .original) { load in
                    guard case .original(let file) = load.content, file.bytes.count > 10_000_000 else {
                        return .skipped
                    }
                    throw LoadError(.refused, subject: load.subject, "too large for us")
                }
                Decode()
                ClosureTransform("Blacken", signature: version) { image in
                    DecodedImage(
                        size: image.size, layout: image.layout, pixels: image.pixels.map { _ in 0 },
                        nativeSize: image.nativeSize)
                }
                Store(memory, nil)
            }
        }
        #expect("\(pipeline("1"))".contains("Refuse\nDecode\nBlacken(1)\nStore"))
        let request = ImageRequest(.bytes(try Pictures.bytes("good/webp-lossy.webp")))
        let response = try await pipeline("1").load(request)
        #expect(response.image?.pixels.allSatisfy { $0 == 0 } == true)
        #expect(try await pipeline("1").load(request).source == .memory)
        #expect(try await pipeline("2").load(request).source != .memory)
        _ = await failure(.refused) {
            try await pipeline("1").load(ImageRequest(.bytes([UInt8](repeating: 0, count: 10_000_001))))
        }
    }

    @Test("A client of several users knows by the partition whose token to add, also behind a redirect")
    func rewrittenForUsers() async throws {
        let site = try Site()
        site.origin.route("/moved") { _ in .init(status: 301, headers: [.location: "/a"]) }
        var resources = site.resources()
        resources.client = Rewritten(site.client) { request in
            var request = request
            request.url.append(queryItems: [URLQueryItem(name: "token", value: request.partition ?? "none")])
            return request
        }
        let loader = ImageLoader(resources)
        for user in ["alice", "bob"] {
            let response = try await loader.load(site.origin.url("/moved"), options: .init(partition: user))
            #expect(response.source == .network)
        }
        let client = CachingClient(cache: resources.responses, client: resources.client)
        _ = try await client.send(CachingRequest(url: site.origin.url("/b"), partition: "carol"))
        #expect(
            site.origin.log.requests.map(\.target) == [
                "/moved?token=alice", "/a?token=alice", "/moved?token=bob", "/a?token=bob", "/b?token=carol",
            ])
    }

    @Test("A request is rewritten at fetch: the token reaches the origin, and neither key, disk nor error")
    func rewritten() async throws {
        let site = try Site()
        var resources = site.resources()
        resources.client = Rewritten(site.client) { request in
            var request = request
            request.url.append(queryItems: [URLQueryItem(name: "token", value: "hush")])
            return request
        }
        let url = site.origin.url("/a")
        #expect(try await ImageLoader(resources).load(url).source == .network)
        #expect(site.origin.log.requests.map(\.target) == ["/a?token=hush"])
        #expect(try await site.loader().load(url).source == .disk)
        let entries = try await site.resources().responses.entries()
        #expect(entries.map(\.target) == [url.absoluteString])

        site.origin.route("/a") { _ in .init(status: 403) }
        site.clock.advance(by: .seconds(61))
        let error = await failure(.httpStatus) { try await ImageLoader(resources).load(url) }
        #expect(error?.description.contains("hush") == false)
    }
}
