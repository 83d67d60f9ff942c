import Essentials
import HTTPTypes
import Pipeline
import PipelineHTTP
import PipelineTesting
import TestFixtures
import Testing

@Suite("Caching clients of several processes over one folder")
struct CachingLeaseTests {
    private let folder: TemporaryFolder
    private let clock = ManualClock()
    private let gate: ScriptedOrigin.Gate

    init() throws {
        folder = try TemporaryFolder()
        gate = try ScriptedOrigin.Gate()
    }

    /// What a process has.
    private func process() -> CachingClient {
        CachingClient(
            cache: HTTPCache(folder: folder.path + "/cache", clock: clock), client: CurlClient(.local))
    }

    private func send(_ client: CachingClient, to origin: ScriptedOrigin, _ headers: HTTPFields = [:]) -> Task<
        CacheUse, any Error
    > {
        let request = CachingRequest(url: origin.url("/a"), headers: headers)
        return Task { try await client.send(request).use }
    }

    @Test("What another process is fetching is waited for and then given from the cache")
    func waits() async throws {
        let origin = try ScriptedOrigin { [gate] _ in
            ScriptedOrigin.Reply(headers: [.cacheControl: "max-age=60"], body: "body").held(until: gate, after: 1)
        }
        let (one, other) = (process(), process())
        let first = send(one, to: origin)
        await origin.until { $0.requests.count == 1 }
        let others = (0..<3).map { _ in send(other, to: origin) }
        await other.cache.fileLeases.reaches(1)
        gate.open()
        #expect(try await first.value == .miss)
        for other in others { #expect(try await other.value == .hit) }
        #expect(origin.log.requests.count == 1)
    }

    @Test("A stale response that another process has confirmed needs no second question")
    func confirms() async throws {
        let origin = try ScriptedOrigin { [gate] request in
            request.headers[.ifNoneMatch] == nil
                ? .init(headers: [.cacheControl: "max-age=60", .eTag: "\"1\""], body: "body")
                : ScriptedOrigin.Reply(status: 304, headers: [.cacheControl: "max-age=60", .eTag: "\"1\""])
                    .held(until: gate)
        }
        let (one, other) = (process(), process())
        #expect(try await send(one, to: origin).value == .miss)
        clock.advance(by: .seconds(61))
        let first = send(one, to: origin)
        await origin.until { $0.requests.count == 2 }
        let second = send(other, to: origin)
        await other.cache.fileLeases.reaches(1)
        gate.open()
        #expect(try await first.value == .revalidated)
        #expect(try await second.value == .hit)
        #expect(origin.log.requests.count == 2)
    }

    @Test("Where the response may not be reused no process waits for its end")
    func notShared() async throws {
        let origin = try ScriptedOrigin { [gate] _ in
            ScriptedOrigin.Reply(headers: [.cacheControl: "no-store"], body: "body").held(until: gate, after: 1)
        }
        let (one, other) = (process(), process())
        let first = send(one, to: origin)
        await origin.until { $0.requests.count == 1 }
        let second = send(other, to: origin)
        await origin.until { $0.requests.count == 2 }
        gate.open()
        #expect(try await first.value == .miss)
        #expect(try await second.value == .miss)
    }

    @Test("A holder that is cancelled lets another process ask")
    func cancelled() async throws {
        let origin = try ScriptedOrigin { [gate] _ in
            ScriptedOrigin.Reply(headers: [.cacheControl: "max-age=60"], body: "body").held(until: gate, after: 1)
        }
        let (one, other) = (process(), process())
        let first = send(one, to: origin)
        await origin.until { $0.requests.count == 1 }
        let second = send(other, to: origin)
        await other.cache.fileLeases.reaches(1)
        first.cancel()
        await origin.until { $0.requests.count == 2 }
        gate.open()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(try await second.value == .miss)
    }

    @Test("Requests whose fields differ wait for nobody")
    func differing() async throws {
        let origin = try ScriptedOrigin { [gate] request in
            let reply = ScriptedOrigin.Reply(
                headers: [.cacheControl: "max-age=60", .vary: "Accept"], body: request.headers[.accept] ?? "")
            return request.headers[.accept] == "a" ? reply.held(until: gate) : reply
        }
        let first = send(process(), to: origin, [.accept: "a"])
        await origin.until { $0.requests.count == 1 }
        #expect(try await send(process(), to: origin, [.accept: "b"]).value == .miss)
        gate.open()
        #expect(try await first.value == .miss)
    }
}
