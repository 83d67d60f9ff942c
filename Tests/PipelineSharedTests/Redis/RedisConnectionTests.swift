import FleetServers
import Foundation
import Pipeline
import Testing

@testable import PipelineShared

@Suite("A connection to Redis", .withRedis, .timeLimit(.minutes(5)))
struct RedisConnectionTests {
    /// Receives the changes of a connection's state.
    private final class States: Sendable {
        private let stream = AsyncStream<RedisState>.makeStream()
        var report: @Sendable (RedisState) -> Void { { [stream] in stream.continuation.yield($0) } }

        func next() async -> RedisState? {
            for await state in stream.stream { return state }
            return nil
        }
    }

    @Test("carries bytes of any value and length in both directions")
    func bytes() async throws {
        let server = try RedisServer()
        let connection = RedisConnection(server.address)
        for length in [0, 1, 255, 20_000, 1_000_000] {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
            _ = try await connection.send([Array("SET".utf8), [0, 13, 10, 255], bytes], within: .seconds(10))
            let read = try await connection.send([Array("GET".utf8), [0, 13, 10, 255]], within: .seconds(10))
            #expect(read.bytes == bytes)
        }
        #expect(try await connection.send("GET", "nothing") == .null)
        #expect(try await connection.send("INCR", "number").integer == 1)
        #expect(try await connection.send("MGET", "number", "nothing").array == [.bytes([49]), .null])
    }

    @Test("gives each of many concurrent requests its own reply")
    func pipelining() async throws {
        let server = try RedisServer()
        let connection = RedisConnection(server.address)
        let right = try await withThrowingTaskGroup { group in
            for number in 0..<500 {
                group.addTask {
                    try await connection.send("ECHO", "\(number)", within: .seconds(10)).text == "\(number)"
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(right == 500)
    }

    @Test("throws the server's error, and works on")
    func refusal() async throws {
        let server = try RedisServer()
        let connection = RedisConnection(server.address)
        let error = await #expect(throws: RedisFailure.self) { try await connection.send("NONSENSE") }
        #expect(error.map { "\($0)".contains("unknown command") } == true)
        #expect(try await connection.send("PING").text == "PONG")
    }

    @Test("signs in over TCP, and chooses the database")
    func signingIn() async throws {
        let port = try freePort()
        let server = try RedisServer("--port", "\(port)", "--bind", "127.0.0.1", "--requirepass", "hunter2")
        let connection = RedisConnection(
            RedisAddress(.host("127.0.0.1", port: port), password: "hunter2", database: 3))
        _ = try await connection.send("SET", "a", "1")
        let other = RedisConnection(RedisAddress(.socket(path: server.socket), user: "default", password: "hunter2"))
        #expect(try await other.send("GET", "a") == .null)
        _ = try await other.send("SELECT", "3")
        #expect(try await other.send("GET", "a").text == "1")
    }

    @Test("finds a host by its name, whichever of its addresses the server listens on")
    func names() async throws {
        let port = try freePort()
        let server = try RedisServer("--port", "\(port)", "--bind", "127.0.0.1")
        defer { withExtendedLifetime(server) {} }
        let connection = RedisConnection(
            RedisAddress(.host("localhost", port: port)),
            limits: RedisLimits(request: .seconds(10), connecting: .seconds(10)))
        #expect(try await connection.send("PING").text == "PONG")
    }

    @Test("fails requests at their deadline, or earlier, if the host has no address")
    func unknownName() async throws {
        let connection = RedisConnection(RedisAddress(.host("nowhere.invalid", port: 6379)))
        await #expect(throws: RedisFailure.self) { try await connection.send("PING") }
    }

    @Test("fails without showing the password if the server refuses it")
    func wrongPassword() async throws {
        let server = try RedisServer("--requirepass", "right")
        let states = States()
        let connection = RedisConnection(
            RedisAddress(.socket(path: server.socket), password: "hunter2"), report: states.report)
        let error = await #expect(throws: RedisFailure.self) { try await connection.send("PING") }
        #expect(error.map { "\($0)".contains("WRONGPASS") && !"\($0)".contains("hunter2") } == true)
        guard case .lost = await states.next() else { throw Unexpected() }
    }

    @Test("fails at once while there is no server, and works again once there is one")
    func outage() async throws {
        let server = try RedisServer()
        let states = States()
        let connection = RedisConnection(server.address, report: states.report)
        #expect(try await connection.send("PING").text == "PONG")
        server.kill()
        await #expect(throws: RedisFailure.self) { while true { _ = try await connection.send("PING") } }
        await #expect(throws: RedisFailure.self) { _ = try await connection.send("PING") }
        guard case .lost = await states.next() else { throw Unexpected() }
        #expect(connection.isPaused)
        await #expect(throws: RedisFailure.paused) { _ = try await connection.send("PING") }
        try server.start()
        #expect(await states.next() == .restored)
        #expect(try await connection.send("PING").text == "PONG")
    }

    @Test("opens the breaker if the server is stopped, and drops replies that come too late")
    func stopped() async throws {
        let server = try RedisServer()
        let states = States()
        let connection = RedisConnection(
            server.address, limits: RedisLimits(request: .milliseconds(20)), report: states.report)
        #expect(try await connection.send("PING", within: .seconds(10)).text == "PONG")
        server.setStopped(true)
        await #expect(throws: RedisFailure.timedOut) { try await connection.send("ECHO", "late") }
        await #expect(throws: RedisFailure.timedOut) { try await connection.send("ECHO", "later") }
        server.setStopped(false)
        #expect(try await connection.send("ECHO", "now", within: .seconds(10)).text == "now")
        server.setStopped(true)
        for _ in 0..<3 {
            await #expect(throws: RedisFailure.timedOut) { try await connection.send("PING") }
        }
        #expect(await states.next() == .lost(.timedOut))
        await #expect(throws: RedisFailure.paused) { try await connection.send("PING") }
        server.setStopped(false)
        #expect(await states.next() == .restored)
    }

    @Test("returns at once when the task is cancelled")
    func cancellation() async throws {
        let server = try RedisServer()
        let connection = RedisConnection(server.address)
        #expect(try await connection.send("PING").text == "PONG")
        server.setStopped(true)
        let task = Task { try await connection.send("PING", within: .seconds(600)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        server.setStopped(false)
    }

    @Test("fails requests after it was closed")
    func closing() async throws {
        let server = try RedisServer()
        let connection = RedisConnection(server.address)
        _ = try await connection.send("PING")
        connection.close()
        await #expect(throws: RedisFailure.self) { try await connection.send("PING") }
    }
}

/// Something else came than the test is about.
struct Unexpected: Error {}
