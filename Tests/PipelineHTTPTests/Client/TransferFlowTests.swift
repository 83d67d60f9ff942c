import Essentials
import HTTPTypes
import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineHTTP

@Suite("The flow of transfers", .timeLimit(.minutes(5)))
struct TransferFlowTests {
    let origin: ScriptedOrigin

    init() throws {
        origin = try ScriptedOrigin()
        origin.route("/small") { _ in .init(body: "small") }
    }

    @Test("send returns at the head, before a byte of the body")
    func headFirst() async throws {
        let gate = try ScriptedOrigin.Gate()
        origin.route("/") { _ in .init(body: "body").held(until: gate, after: 0) }
        let response = try await CurlClient(.local).send(TransferRequest(url: origin.url("/")))
        #expect(response.status == 200)
        gate.open()
        #expect(try await response.text() == "body")
    }

    @Test("What is not read is not received: the origin can't send on, and continues when it is read")
    func backPressure() async throws {
        let total = 64 << 20
        origin.script("/", .init(body: [UInt8](repeating: 1, count: total)))
        var options = CurlClient.Options.local
        options.maximumBodyBytes = total
        let client = CurlClient(options)
        let response = try await client.send(TransferRequest(url: origin.url("/")))

        // The same thread serves these; once the large one is paused, what the origin sent no longer grows.
        var sent = -1
        while sent != origin.log.bytesSent && sent < total {
            sent = origin.log.bytesSent
            for _ in 0..<50 { _ = try await client.get(origin.url("/small")) }
            sent += 50 * smallReplyBytes
        }
        #expect(sent < total, "The kernel's buffers and \(CurlTransfer.maximumUnread) bytes are all that may be full.")

        var read = 0
        for try await chunk in response.body {
            #expect(!chunk.isEmpty && chunk.count <= CurlTransfer.maximumUnread)
            read += chunk.count
        }
        #expect(read == total)
    }

    /// How many bytes the origin's answer to `/small` has.
    private var smallReplyBytes: Int { "HTTP/1.1 200 \r\nContent-Length: 5\r\n\r\nsmall".utf8.count }

    @Test("A cancelled task gets its CancellationError while the origin is still silent")
    func cancelBeforeHead() async throws {
        let gate = try ScriptedOrigin.Gate()
        origin.route("/") { _ in ScriptedOrigin.Reply().held(until: gate) }
        let client = CurlClient(.local)
        let task = Task { [origin] in try await client.get(origin.url("/")) }
        await origin.until { $0.requests.count == 1 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        // The gate never opened: only the client can have ended it.
        await origin.until { $0.abandoned == 1 }
        #expect(origin.log.abandoned == 1)
    }

    @Test("A task that is cancelled while it reads the body stops reading, and the transfer ends")
    func cancelInBody() async throws {
        let gate = try ScriptedOrigin.Gate()
        origin.route("/") { _ in .init(body: "0123456789").held(until: gate, after: 4) }
        let client = CurlClient(.local)
        let task = Task { [origin] in
            let response = try await client.send(TransferRequest(url: origin.url("/")))
            var iterator = response.body.makeAsyncIterator()
            let first = try await iterator.next()
            #expect(first == Array("0123".utf8))
            withUnsafeCurrentTask { $0?.cancel() }
            _ = try await iterator.next()
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        await origin.until { $0.abandoned == 1 }
        #expect(origin.log.abandoned == 1)
    }

    @Test("A task that was cancelled before it began sends nothing")
    func cancelledAtStart() async throws {
        let client = CurlClient(.local)
        let task = Task { [origin] in
            withUnsafeCurrentTask { $0?.cancel() }
            _ = try await client.get(origin.url("/small"))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        _ = try await client.get(origin.url("/small"))
        #expect(origin.log.requests.count == 1)
    }

    @Test("A response that is let go unread ends its transfer")
    func droppedBody() async throws {
        origin.route("/") { _ in .endless([UInt8](repeating: 1, count: 1000)) }
        let client = CurlClient(.local)
        do {
            let response = try await client.send(TransferRequest(url: origin.url("/")))
            #expect(response.status == 200)
        }
        await origin.until { $0.abandoned == 1 }
        #expect(origin.log.abandoned == 1)
    }

    @Test("After a cancel others keep their connection, and the client opens a new one where it was lost")
    func keepAliveAfterCancel() async throws {
        let gate = try ScriptedOrigin.Gate()
        origin.route("/held") { _ in ScriptedOrigin.Reply().held(until: gate) }
        let client = CurlClient(.local)
        _ = try await client.get(origin.url("/small"))
        let held = Task { [origin] in try await client.get(origin.url("/held")) }
        await origin.until { $0.requests.count == 2 }
        _ = try await client.get(origin.url("/small"))
        held.cancel()
        await #expect(throws: CancellationError.self) { try await held.value }
        for _ in 0..<5 { _ = try await client.get(origin.url("/small")) }
        // The first went on with the held transfer and was closed with it; the second serves all that follow.
        #expect(origin.log.connections == 2)
        #expect(origin.log.requests.map(\.connection) == [1, 1, 2, 2, 2, 2, 2, 2])
    }

    @Test("A cancelled transfer among many leaves the others whole")
    func cancelAmongMany() async throws {
        let body = [UInt8](repeating: 3, count: 300_000)
        origin.route("/") { _ in .init(body: body) }
        let client = CurlClient(.local)
        await withTaskGroup(of: Bool.self) { group in
            for index in 0..<60 {
                let task = Task { [origin] in try await client.get(origin.url("/")).body == body }
                if index.isMultiple(of: 3) { task.cancel() }
                group.addTask {
                    do { return try await task.value } catch {
                        return error is CancellationError && index.isMultiple(of: 3)
                    }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }

    @Test("What waits for a connection starts by priority, then in the order of arrival")
    func priorities() async throws {
        let gate = try ScriptedOrigin.Gate()
        origin.route("/first") { _ in .init(body: "x").held(until: gate) }
        var options = CurlClient.Options.local
        options.maximumConnectionsPerHost = 1
        let client = CurlClient(options)
        let first = Task { [origin] in _ = try await client.get(origin.url("/first")) }
        await origin.until { $0.requests.count == 1 }
        // Each runs up to its wait before the next begins.
        let names: [(String, LoadPriority)] = [
            ("/low", .low), ("/normal", .normal), ("/normal2", .normal), ("/veryHigh", .veryHigh), ("/high", .high),
        ]
        let waiting = names.map { name, priority in
            Task.immediate { [origin] in
                let request = TransferRequest(url: origin.url(name), priority: priority)
                _ = try await client.send(request).bytes()
            }
        }
        gate.open()
        for task in waiting + [first] { try await task.value }
        #expect(
            origin.log.requests.map(\.path) == ["/first", "/veryHigh", "/high", "/normal", "/normal2", "/low"])
        #expect(origin.log.connections == 1)
    }

    @Test("A transfer that is cancelled while it waits for a connection is never sent")
    func cancelInQueue() async throws {
        let gate = try ScriptedOrigin.Gate()
        origin.route("/first") { _ in .init(body: "x").held(until: gate) }
        var options = CurlClient.Options.local
        options.maximumConnectionsPerHost = 1
        let client = CurlClient(options)
        let first = Task { [origin] in _ = try await client.get(origin.url("/first")) }
        await origin.until { $0.requests.count == 1 }
        let second = Task.immediate { [origin] in _ = try await client.get(origin.url("/second")) }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        gate.open()
        try await first.value
        _ = try await client.get(origin.url("/third"))
        #expect(origin.log.requests.map(\.path) == ["/first", "/third"])
    }

    @Test("The limit on all transfers holds across hosts, and a full host does not hold up another")
    func limits() async throws {
        let other = try ScriptedOrigin { _ in .init(body: "other") }
        let gate = try ScriptedOrigin.Gate()
        origin.route("/held") { _ in .init(body: "x").held(until: gate) }
        var options = CurlClient.Options.local
        options.maximumConnectionsPerHost = 2
        options.maximumConnections = 3
        let client = CurlClient(options)
        let held = (0..<4).map { _ in Task.immediate { [origin] in _ = try await client.get(origin.url("/held")) } }
        await origin.until { $0.requests.count == 2 }
        // Two of the three places are taken, two transfers wait for this host, and the other host has the third.
        for _ in 0..<3 { #expect(try await client.get(other.url("/")).body == Array("other".utf8)) }
        #expect(origin.log.requests.count == 2)
        gate.open()
        for task in held { try await task.value }
        #expect(origin.log.connections == 2)
    }
}
