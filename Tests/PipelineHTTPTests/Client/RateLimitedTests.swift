import Foundation
import HTTPTypes
import Pipeline
import PipelineHTTP
import PipelineTesting
import TestFixtures
import Testing

@Suite("A rate limit", .timeLimit(.minutes(5)))
struct RateLimitedTests {
    /// Notes what is sent, and when.
    private final class Recorder: TransferClient {
        private let seen = Lock([String]())
        let clock: ManualClock

        init(_ clock: ManualClock) { self.clock = clock }

        var sent: [String] { seen.withLock { $0 } }

        func send(_ request: TransferRequest) async throws -> TransferResponse {
            let text = "\(request.url.path()) at \(clock.uptime / .milliseconds(1))"
            seen.withLock { $0.append(text) }
            return TransferResponse(status: 200, headers: [:], url: request.url, body: TransferBody([]))
        }

        var urlRule: (@Sendable (URL) -> Bool)? { nil }

        func shutdown() async {}
    }

    private let clock = ManualClock()
    private let recorder: Recorder
    private let client: RateLimited

    init() {
        recorder = Recorder(clock)
        client = RateLimited(recorder, requestsPerSecond: 4, clock: clock)
    }

    /// Starts a request and returns when it waits or is sent.
    private func start(
        _ path: String, host: String = "a.example", priority: LoadPriority = .normal
    ) throws -> Task<Void, any Error> {
        let url = try #require(URL(string: "http://\(host)\(path)"))
        return Task.immediate { [client] in _ = try await client.send(TransferRequest(url: url, priority: priority)) }
    }

    /// Lets time pass to the next request.
    private func advance(_ milliseconds: Int = 250) async throws {
        try await clock.sleepers(1)
        clock.advance(by: .milliseconds(milliseconds))
    }

    @Test("Requests to one host are sent at even distances, the first at once")
    func distances() async throws {
        let tasks = try ["/1", "/2", "/3"].map { try start($0) }
        try await tasks[0].value
        try await advance(249)
        #expect(recorder.sent == ["/1 at 0.0"])
        try await advance(1)
        try await tasks[1].value
        try await advance()
        try await tasks[2].value
        #expect(recorder.sent == ["/1 at 0.0", "/2 at 250.0", "/3 at 500.0"])
    }

    @Test("Time that passed without requests gives none of them later; a pause earns no burst")
    func pause() async throws {
        try await start("/1").value
        clock.advance(by: .seconds(10))
        let tasks = try ["/2", "/3"].map { try start($0) }
        try await tasks[0].value
        try await advance()
        try await tasks[1].value
        #expect(recorder.sent == ["/1 at 0.0", "/2 at 10000.0", "/3 at 10250.0"])
    }

    @Test("Hosts don't wait for each other; the same name at another port, or over TLS, is another host")
    func hosts() async throws {
        for host in ["a.example", "b.example", "a.example:8080"] { try await start("/", host: host).value }
        let url = try #require(URL(string: "https://A.example/"))
        _ = try await client.send(TransferRequest(url: url))
        #expect(recorder.sent.count == 4)
        // The same host in other spelling is the same.
        let waiting = try start("/", host: "A.EXAMPLE:80")
        try await advance()
        try await waiting.value
        #expect(recorder.sent.last == "/ at 250.0")
    }

    @Test("Waiters are served by priority, then in the order of arrival")
    func priorities() async throws {
        let names: [(String, LoadPriority)] = [
            ("/sent", .low), ("/next", .low), ("/low", .low), ("/1", .normal), ("/high", .high), ("/2", .normal),
        ]
        let tasks = try names.map { try start($0.0, priority: $0.1) }
        for count in 1...5 {
            try await advance()
            // Whose turn it was may still be on its way to the client.
            while recorder.sent.count <= count { await Task.yield() }
        }
        for task in tasks { try await task.value }
        // The one that was next already stays so.
        #expect(
            recorder.sent.map { String($0.prefix { $0 != " " }) } == ["/sent", "/next", "/high", "/1", "/2", "/low"])
    }

    @Test("A cancelled request leaves at once, the next one or not, and takes nobody's turn")
    func cancellation() async throws {
        let tasks = try ["/1", "/2", "/3", "/4"].map { try start($0) }
        for index in [1, 2] {
            tasks[index].cancel()
            await #expect(throws: CancellationError.self) { try await tasks[index].value }
        }
        try await advance()
        try await tasks[3].value
        #expect(recorder.sent == ["/1 at 0.0", "/4 at 250.0"])
    }

    @Test("Hundreds at once, some of them cancelled: each of the others is sent, at its distance")
    func many() async throws {
        let tasks = (0..<200).map { index in
            Task { [client] in
                let url = try #require(URL(string: "http://a.example/\(index)"))
                if index.isMultiple(of: 3) { withUnsafeCurrentTask { $0?.cancel() } }
                _ = try await client.send(TransferRequest(url: url))
            }
        }
        for index in 0..<200 where index.isMultiple(of: 3) {
            await #expect(throws: CancellationError.self) { try await tasks[index].value }
        }
        for count in 1...132 {
            try await advance()
            // Whose turn it was may still be on its way to the client.
            while recorder.sent.count <= count { await Task.yield() }
        }
        for index in 0..<200 where !index.isMultiple(of: 3) { try await tasks[index].value }
        #expect(recorder.sent.count == 133)
        #expect(recorder.sent.last?.hasSuffix(" at 33000.0") == true)
    }

    @Test("A rate that is none is slow, and never a crash", arguments: [0, -1, .nan, .infinity, 0.001])
    func oddRates(rate: Double) async throws {
        let client = RateLimited(recorder, requestsPerSecond: rate, clock: clock)
        let url = try #require(URL(string: "http://a.example/"))
        _ = try await client.send(TransferRequest(url: url))
        let second = Task { _ = try await client.send(TransferRequest(url: url)) }
        if rate != .infinity { try await advance(1_000_000) }
        try await second.value
        #expect(recorder.sent.count == 2)
    }

    @Test("More hosts than are remembered are still limited where they have to wait")
    func manyHosts() async throws {
        for index in 0..<300 { try await start("/", host: "h\(index).example").value }
        let waiting = try start("/", host: "h0.example")
        try await advance()
        try await waiting.value
        #expect(recorder.sent.last == "/ at 250.0")
    }

    @Test("Over the wire, and a URL that can't be fetched takes nobody's turn")
    func wire() async throws {
        let origin = try ScriptedOrigin { request in .init(body: request.path) }
        let client = RateLimited(CurlClient(.local), requestsPerSecond: 4, clock: clock)
        let bad = try #require(URL(string: "ftp://127.0.0.1/"))
        _ = await failure(.unsupportedScheme) { try await client.send(TransferRequest(url: bad)) }
        #expect(try await client.send(TransferRequest(url: origin.url("/1"))).text() == "/1")
        let second = Task { try await client.send(TransferRequest(url: origin.url("/2"))).text() }
        try await clock.sleepers(1)
        #expect(origin.log.requests.count == 1)
        clock.advance(by: .milliseconds(250))
        #expect(try await second.value == "/2")
    }
}
