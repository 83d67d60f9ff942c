import Foundation
import Logging
import PipelineIsolation
import PipelineServiceLifecycle
import PipelineShared
import PipelineSharedServiceLifecycle
import PipelineTesting
import ServiceLifecycle
import Stages
import Synchronization
import Testing

/// One at a time, since they look at the processes and connections of this program.
@Suite("Services of a pipeline's parts", .timeLimit(.minutes(5)), .serialized)
struct PipelineServiceTests {
    private let origin: ScriptedOrigin
    private let gate: ScriptedOrigin.Gate
    private let picture = Picture.png(PixelSize(width: 160, height: 120))

    init() throws {
        let gate = try ScriptedOrigin.Gate()
        origin = try ScriptedOrigin { [picture] request in
            request.path == "/held" ? .init(body: picture).held(until: gate) : .init(body: picture)
        }
        self.gate = gate
    }

    // The processes of loaders' own pool would be counted too.
    private func makeLoader(_ codecs: ImageCodecs = .standard) -> ImageLoader {
        ImageLoader(
            PipelineResources(
                memory: MemoryCache(), responses: HTTPCache(inMemory: 64 << 20),
                client: CurlClient(.init(addresses: .any)), codecs: codecs, isolation: .none))
    }

    private func makeGroup(_ services: any Service...) -> ServiceGroup {
        ServiceGroup(services: services, logger: Logger(label: "test"))
    }

    /// Calls `server` once all services before it run, and lets the group shut down when it returns.
    private struct Server: Service {
        let body: @Sendable () async throws -> Void

        func run() async throws {
            try await body()
            try? await gracefulShutdown()
        }
    }

    @Test("A graceful shutdown ends a loader: its loads are cancelled, and later ones are refused")
    func loader() async throws {
        let loader = makeLoader()
        _ = try await loader.load(origin.url("/a"))
        let held = Task { [origin] in try await loader.load(origin.url("/held")) }
        await origin.until { $0.requests.count == 2 }
        let group = makeGroup(PipelineService(loader))
        async let running: Void = group.run()
        await group.triggerGracefulShutdown()
        try await running
        await #expect(throws: CancellationError.self) { try await held.value }
        await refused { try await loader.load(origin.url("/a")) }
    }

    @Test("A graceful shutdown closes a pool, and returns when its processes have ended")
    func pool() async throws {
        let pool = try await DecoderPool()
        let loader = makeLoader(try ImageCodecs.standard.isolated(in: pool))
        let group = makeGroup(PipelineService(pool))
        async let running: Void = group.run()
        _ = try await loader.load(origin.url("/a"))
        #expect(try decoders() > 0)
        await group.triggerGracefulShutdown()
        try await running
        #expect(try decoders() == 0)
        await refused { try await loader.load(origin.url("/b")) }
        await loader.shutdown()
    }

    @Test("A graceful shutdown ends a fleet, and returns when its connections have ended")
    func fleet() async throws {
        let fleet = try makeFleet()
        let loader = makeLoader()
        fleet.join(loader.resources)
        let group = makeGroup(PipelineService(fleet))
        async let running: Void = group.run()
        await origin.until { $0.connections > 0 }
        await group.triggerGracefulShutdown()
        try await running
        #expect(try connections(to: origin.port) == 0)
        #expect(try await loader.load(.bytes(picture)).image.size == PixelSize(width: 160, height: 120))
    }

    @Test(
        "Services end in the reverse order of their list: the server's requests finish, then the loader ends, then the pool"
    )
    func order() async throws {
        let pool = try await DecoderPool()
        let loader = makeLoader(try ImageCodecs.standard.isolated(in: pool))
        let fleet = try makeFleet()
        let ended = Mutex<[String]>([])
        @Sendable func end(_ name: String) { ended.withLock { $0.append(name) } }
        let server = Server { [origin, gate] in
            async let response = loader.load(origin.url("/held"))
            await origin.until { $0.requests.count == 1 }
            gate.open()
            let image = try await response.image
            #expect(image.size == PixelSize(width: 160, height: 120))
            end("server")
        }
        let group = makeGroup(
            PipelineService(pool), PipelineService { end("pool") }, PipelineService(fleet), PipelineService(loader),
            PipelineService { end("loader") }, server)
        await group.triggerGracefulShutdown()
        try await group.run()
        #expect(ended.withLock(\.self) == ["server", "loader", "pool"])
        #expect(try decoders() == 0)
        await refused { try await loader.load(origin.url("/a")) }
    }

    @Test("A part whose service is cancelled has ended as completely when its service returns")
    func cancelled() async throws {
        let pool = try await DecoderPool()
        let loader = makeLoader(try ImageCodecs.standard.isolated(in: pool))
        _ = try await loader.load(origin.url("/a"))
        let fleet = try makeFleet()
        fleet.join(loader.resources)
        await origin.until { $0.connections > 1 }
        for service in [PipelineService(loader), PipelineService(fleet), PipelineService(pool)] {
            let running = Task { await service.run() }
            running.cancel()
            await running.value
        }
        #expect(try decoders() == 0)
        #expect(try connections(to: origin.port) == 0)
        await refused { try await loader.load(origin.url("/a")) }
    }

    @Test("When another service fails to start, all parts end, and the group throws that service's error")
    func failure() async throws {
        struct PortTaken: Error {}
        let pool = try await DecoderPool()
        let loader = makeLoader(try ImageCodecs.standard.isolated(in: pool))
        let held = Task { [origin] in try await loader.load(origin.url("/held")) }
        await origin.until { $0.requests.count == 1 }
        let server = Server { throw PortTaken() }
        let group = makeGroup(PipelineService(pool), PipelineService(loader), server)
        await #expect(throws: PortTaken.self) { try await group.run() }
        await #expect(throws: (any Error).self) { try await held.value }
        #expect(try decoders() == 0)
        await refused { try await loader.load(origin.url("/a")) }
    }

    @Test("A service that runs twice waits for each shutdown, and the second finds its part ended")
    func twice() async throws {
        let pool = try await DecoderPool()
        let loader = makeLoader(try ImageCodecs.standard.isolated(in: pool))
        let services = [PipelineService(pool), PipelineService(loader)]
        for _ in 0..<2 {
            let group = makeGroup(services[0], services[1], services[0], services[1])
            await group.triggerGracefulShutdown()
            try await group.run()
            #expect(try decoders() == 0)
        }
    }

    /// A fleet whose server is not Redis: only the connection matters here.
    private func makeFleet() throws -> Fleet { Fleet(try RedisAddress("redis://127.0.0.1:\(origin.port)")) }

    private func refused(_ load: () async throws -> ImageResponse) async {
        do {
            _ = try await load()
            Issue.record("This load should have been refused.")
        } catch {
            #expect((error as? LoadError)?.code == .refused, "\(error)")
        }
    }

    /// The number of decoder processes that this program has.
    private func decoders() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").count { name in
            guard Int(name) != nil, let line = try? String(contentsOfFile: "/proc/\(name)/stat", encoding: .utf8) else {
                return false
            }
            // After the name in parentheses: the state, and the process that started it.
            return line.contains("(pipeline-decode")
                && line.split(separator: ")").last?.split(separator: " ")[1] == "\(getpid())"
        }
    }

    /// The number of this machine's open connections to a port of 127.0.0.1.
    private func connections(to port: Int) throws -> Int {
        let remote = String(format: "0100007F:%04X", port)
        return try String(contentsOfFile: "/proc/net/tcp", encoding: .utf8).split(separator: "\n").count { line in
            let words = line.split(separator: " ")
            return words.count > 3 && words[2] == remote && words[3] == "01"
        }
    }
}
