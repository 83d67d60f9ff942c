import FoundationEssentials
import NIOCore
import PipelineHTTP
import PipelineTesting
import Synchronization
import Testing

@Suite("The flow of transfers through AsyncHTTPClient", .timeLimit(.minutes(5)))
struct TransferFlowTests {
    let origin: ScriptedOrigin
    let local = LocalClient()

    init() throws {
        origin = try ScriptedOrigin()
        origin.route("/small") { _ in .init(body: "small") }
    }

    @Test("send returns at the head, before a byte of the body")
    func headFirst() async throws {
        let gate = try ScriptedOrigin.Gate()
        origin.route("/") { _ in .init(body: "body").held(until: gate, after: 0) }
        let response = try await local.client.send(TransferRequest(url: origin.url("/")))
        #expect(response.status == 200)
        gate.open()
        #expect(try await response.bytes() == Array("body".utf8))
    }

    @Test("What is not read is not received: the origin can't send on, and continues when it is read")
    func backPressure() async throws {
        let (total, part) = (64 << 20, 64 << 10)
        let sent = Mutex(0)
        try await withServer { send in
            try await send(ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: \(total)\r\n\r\n"))
            for _ in 0..<total / part {
                try await send(ByteBuffer(repeating: 1, count: part))
                sent.withLock { $0 += part }
            }
        } _: { port in
            let url = try #require(URL(string: "http://127.0.0.1:\(port)/"))
            let large = LocalClient(maximumBodyBytes: total)
            let response = try await large.client.send(TransferRequest(url: url))
            // The origin sends until all buffers are full.
            var before = -1
            while before != sent.withLock(\.self) {
                before = sent.withLock(\.self)
                for _ in 0..<50 { _ = try await local.get(origin.url("/small")) }
            }
            #expect(before < total / 2)
            #expect(try await response.bytes().count == total)
            withExtendedLifetime(large) {}
        }
    }

    @Test("A cancelled task gets its CancellationError while the origin is still silent, and the connection ends")
    func cancelBeforeHead() async throws {
        let gate = try ScriptedOrigin.Gate()
        origin.route("/") { _ in ScriptedOrigin.Reply().held(until: gate) }
        let task = Task { [local, origin] in try await local.get(origin.url("/")) }
        await origin.until { $0.requests.count == 1 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        // The gate never opened: only the client can have ended it.
        try await connectionsEnd(to: origin.port)
    }

    @Test("A task that is cancelled while it reads the body stops reading, and the connection ends")
    func cancelInBody() async throws {
        let gate = try ScriptedOrigin.Gate()
        origin.route("/") { _ in .init(body: "0123456789").held(until: gate, after: 4) }
        let (read, news) = AsyncStream.makeStream(of: [UInt8].self)
        let task = Task { [local, origin] in
            let response = try await local.client.send(TransferRequest(url: origin.url("/")))
            for try await chunk in response.body { news.yield(chunk) }
        }
        for await chunk in read {
            #expect(chunk == Array("0123".utf8))
            break
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await connectionsEnd(to: origin.port)
    }

    @Test("A task that was cancelled before it began sends nothing")
    func cancelledAtStart() async throws {
        let task = Task { [local, origin] in
            withUnsafeCurrentTask { $0?.cancel() }
            _ = try await local.get(origin.url("/small"))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        _ = try await local.get(origin.url("/small"))
        #expect(origin.log.requests.count == 1)
    }

    @Test("A response that is let go unread, or half read, ends its transfer")
    func droppedBody() async throws {
        origin.route("/") { _ in .endless([UInt8](repeating: 1, count: 1000)) }
        for isRead in [false, true] {
            let response = try await local.client.send(TransferRequest(url: origin.url("/")))
            if isRead { for try await _ in response.body { break } }
        }
        try await connectionsEnd(to: origin.port)
    }

    @Test("Two tasks can't read one body at the same time")
    func twoReaders() async throws {
        origin.route("/") { _ in .init(body: "0123456789").stalled(after: 4) }
        let response = try await local.client.send(TransferRequest(url: origin.url("/")))
        var first = response.body.makeAsyncIterator()
        _ = try await first.next()
        let waiting = Task.immediate { try await response.bytes() }
        _ = await failure(.stageContract) { try await response.bytes() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test("A shutdown fails what is in flight and what comes later, and leaves the HTTPClient as it is")
    func shutdown() async throws {
        let gate = try ScriptedOrigin.Gate()
        origin.route("/silent") { _ in ScriptedOrigin.Reply().held(until: gate) }
        origin.route("/stalled") { _ in .init(body: "0123456789").stalled(after: 4) }
        let response = try await local.client.send(TransferRequest(url: origin.url("/stalled")))
        let silent = Task { [local, origin] in try await local.get(origin.url("/silent")) }
        await origin.until { $0.requests.count == 2 }
        await local.client.shutdown()
        _ = await failure(.unreachable) { try await silent.value }
        _ = await failure(.unreachable) { try await response.bytes() }
        let error = await failure(.unreachable) { try await local.get(origin.url("/small")) }
        #expect(error?.message.contains("shut down") == true)
        try await connectionsEnd(to: origin.port)
        #expect(try await local.http.get(url: origin.url("/small").absoluteString).get().status == .ok)
    }

    @Test("Requests fail after the HTTPClient was shut down, as they do after their client was")
    func shutdownBelow() async throws {
        let other = LocalClient()
        try await other.http.shutdown()
        _ = await failure(.unreachable) { try await other.get(origin.url("/small")) }
    }
}
