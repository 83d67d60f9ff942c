import Foundation
import HTTPTypes
import PipelineTesting
import Stages
import Synchronization
import Testing

@testable import ImageServer
@testable import PipelineServer

@Suite("Under load", .timeLimit(.minutes(5)))
struct LoadTests {
    private let picture = Picture.png(PixelSize(width: 40, height: 30), with: [200, 40, 90])

    private func path(_ origin: ScriptedOrigin, _ name: String) -> String {
        "/thumb/10x10/" + origin.url("/\(name)").absoluteString.percentEncoded
    }

    @Test("A full queue answers 503, and what is in memory is served all the same")
    func queue() async throws {
        let (origin, gate, picture) = (try ScriptedOrigin(), try ScriptedOrigin.Gate(), picture)
        origin.route("/slow.png") { _ in .init(body: picture).held(until: gate) }
        origin.route("/quick.png") { _ in .init(body: picture) }
        try await withServer(["--unsigned", "--allow", origin.url("/").absoluteString, "--queue", "1"]) {
            (server: RunningServer) async throws in
            #expect(try await server.get(path(origin, "quick.png")).status == 200)
            async let slow = server.get(path(origin, "slow.png"))
            await origin.until { $0.requests.count == 2 }
            async let joined = server.get(path(origin, "slow.png"))
            let refused = try await server.get(path(origin, "other.png"))
            #expect(refused.status == 503 && refused.fields[.retryAfter] == "1")
            #expect(try await server.get("/health/ready").status == 200)
            #expect(try await server.get(path(origin, "quick.png")).status == 200)
            gate.open()
            #expect(try await (slow.status, joined.status) == (200, 200))
            #expect(origin.log.requests.count == 2)
        }
    }

    @Test("A client that goes away cancels its work")
    func abort() async throws {
        let (origin, gate, picture) = (try ScriptedOrigin(), try ScriptedOrigin.Gate(), picture)
        origin.route("/slow.png") { _ in .init(body: picture).held(until: gate) }
        try await withServer(["--unsigned", "--allow", origin.url("/").absoluteString]) {
            (server: RunningServer) async throws in
            let socket = try request(path(origin, "slow.png"), port: server.port)
            await origin.until { $0.requests.count == 1 }
            close(socket)
            // Each turn is a request: the test ends as soon as the server has noticed, or by its time limit.
            while try await !server.get("/metrics").text.contains("kind=\"thumb\",outcome=\"cancelled\"} 1") {}
            #expect(server.server.responder.queue.count == 0)
            gate.open()
        }
    }

    @Test("Work that another client waits for goes to its end")
    func sharedAbort() async throws {
        let (origin, gate, picture) = (try ScriptedOrigin(), try ScriptedOrigin.Gate(), picture)
        origin.route("/slow.png") { _ in .init(body: picture).held(until: gate) }
        try await withServer(["--unsigned", "--allow", origin.url("/").absoluteString]) {
            (server: RunningServer) async throws in
            let socket = try request(path(origin, "slow.png"), port: server.port)
            await origin.until { $0.requests.count == 1 }
            async let other = server.get(path(origin, "slow.png"))
            while try await !server.get("/metrics").text.contains("pipeline_in_flight 2") {}
            close(socket)
            while try await !server.get("/metrics").text.contains("kind=\"thumb\",outcome=\"cancelled\"} 1") {}
            gate.open()
            #expect(try await other.status == 200)
            #expect(origin.log.requests.count == 1)
        }
    }

    @Test("Work that has begun to encode knows it, in a shared load too")
    func encoding() async throws {
        let (work, picture) = (ClientWork(), picture)
        let list = ImagePipeline {
            ResolveIdentifier()
            Coalesce(Flights(), by: .variant) {
                ReadInline()
                Decode()
                BeginEncoding()
                Encode(.png)
            }
        }
        _ = try await ClientWork.$current.withValue(work) { try await list.load(ImageRequest(.bytes(picture))) }
        let hasBegun = work.hasBegunToEncode.load(ordering: .relaxed)
        #expect(hasBegun)
    }

    /// Sends a request over a connection of its own, and leaves the response unread.
    private func request(_ path: String, port: Int) throws -> Int32 {
        let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(file, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(connected == 0)
        let text = "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        try #require(send(file, text, text.utf8.count, 0) == text.utf8.count)
        return file
    }
}
