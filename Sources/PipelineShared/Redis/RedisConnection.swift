import Pipeline

/// How long a client waits for a Redis server.
public struct RedisLimits: Sendable, Hashable {
    /// How long a request may take; 100 ms by default. A load then continues without the shared tier.
    var request: Duration
    /// How long connecting and signing in may take; 250 ms by default.
    var connecting: Duration

    /// Describes the limits.
    public init(request: Duration = .milliseconds(100), connecting: Duration = .milliseconds(250)) {
        self.request = request
        self.connecting = connecting
    }
}

/// A change of a connection's state.
enum RedisState: Sendable, Hashable {
    /// The breaker has opened.
    case lost(RedisFailure)
    /// The breaker has closed.
    case restored
    /// The server has refused a request; why.
    case refused(String)
    /// The slowest reply of the last second or more took this long.
    case replied(Duration)
}

/// A connection to a Redis server, over which any number of requests are in flight concurrently.
///
/// It runs on a thread of its own, which starts with the first request. Requests are pipelined: each is sent at once,
/// and replies come in the order of the requests. After three time-outs in a row, or if connecting fails, requests fail
/// at once, and the thread alone probes the server: after 0.5 s, then after pauses that double up to 2 s.
final class RedisConnection: Sendable {
    /// The server.
    let address: RedisAddress
    private let limits: RedisLimits
    private let thread: RedisThread
    private let clock = SystemClock()

    /// Describes a connection; nothing is connected yet.
    /// - Parameters:
    ///   - probe: A write without an effect, by which a new connection finds out whether it has reached the primary.
    ///   - report: Receives changes of the state, on the connection's thread.
    init(
        _ address: RedisAddress, limits: RedisLimits = RedisLimits(), role: RedisRole = .requests,
        probe: [String] = [], report: @escaping @Sendable (RedisState) -> Void = { _ in }
    ) {
        self.address = address
        self.limits = limits
        let name = if case .messages = role { "redis-messages" } else { "redis" }
        thread = RedisThread(name: name) { thread, wakeup in
            RedisLoop(address, limits, role, probe, thread, report: report).run(wakeup: wakeup)
        }
    }

    deinit { thread.stop() }

    /// Whether requests fail at once, since the server failed.
    var isPaused: Bool { thread.isPaused }

    /// Starts the thread of a connection for messages, which then stays connected, or wakes it to take commands.
    func begin() { thread.begin() }

    /// Ends the connection. Requests in flight and later ones fail.
    func close() { thread.stop() }

    /// Waits until the thread of a closed connection has ended.
    func ended() async { await thread.ended() }

    /// Sends a command and waits for its reply.
    /// - Parameter limit: How long it may take; that of the connection's limits by default.
    /// - Throws: ``RedisFailure``; `CancellationError` at once if the task is cancelled.
    func send(_ arguments: [[UInt8]], within limit: Duration? = nil) async throws -> RedisValue {
        let request = try request(arguments, limit)
        return try await request.reply { thread.post([request]) }
    }

    /// Sends two commands in one round trip and waits for their replies.
    func send(
        _ first: [[UInt8]], then second: [[UInt8]], within limit: Duration? = nil
    ) async throws -> (RedisValue, RedisValue) {
        // Replies come in the order of their requests, so the limit of the second holds for both.
        let later = try request(second, limit)
        let earlier = RedisRequest(first, begun: later.begun, deadline: .max)
        let reply = try await later.reply { thread.post([earlier, later]) }
        return (try await earlier.reply {}, reply)
    }

    /// Sends a command that the server may refuse, which is then neither logged nor counted.
    func ask(_ arguments: String...) async throws -> RedisValue { try await ask(arguments) }

    /// Sends such a command, given as a list.
    func ask(_ arguments: [String]) async throws -> RedisValue {
        let request = try request(arguments.map { Array($0.utf8) }, nil, isOptional: true)
        return try await request.reply { thread.post([request]) }
    }

    private func request(
        _ arguments: [[UInt8]], _ limit: Duration?, isOptional: Bool = false
    ) throws(RedisFailure) -> RedisRequest {
        if thread.isPaused { throw .paused }
        let now = clock.uptimeNanoseconds
        let deadline = now + (limit ?? limits.request).nanoseconds
        return RedisRequest(arguments, begun: now, deadline: deadline, isOptional: isOptional)
    }

    /// Does the same with texts.
    func send(_ arguments: String..., within limit: Duration? = nil) async throws -> RedisValue {
        try await send(arguments.map { Array($0.utf8) }, within: limit)
    }
}
