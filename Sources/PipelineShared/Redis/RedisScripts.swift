import Pipeline

/// Runs scripts by their digests, so that their text is sent once.
final class RedisScripts: Sendable {
    let connection: RedisConnection
    private let adapted: @Sendable (String) -> String
    private let digests = Lock<[RedisScript: [UInt8]]>([:])

    /// Returns the Lua that is sent for a script's; tests give the server a clock by it.
    @TaskLocal static var adaptation: @Sendable (String) -> String = { $0 }

    init(_ connection: RedisConnection) { (self.connection, adapted) = (connection, Self.adaptation) }

    /// Runs a script after another command, in the same round trip.
    /// - Returns: The replies of both.
    /// - Throws: ``RedisFailure``; `CancellationError` at once if the task is cancelled.
    func run(
        _ script: RedisScript, keys: [String], _ arguments: [[UInt8]], after command: [[UInt8]]
    ) async throws -> (RedisValue, RedisValue) {
        try await running(script, within: nil) { digest in
            try await connection.send(command, then: Self.call(digest, keys, arguments))
        }
    }

    /// Runs a script.
    /// - Throws: ``RedisFailure``; `CancellationError` at once if the task is cancelled.
    func run(
        _ script: RedisScript, keys: [String], _ arguments: [[UInt8]], within limit: Duration? = nil
    ) async throws -> RedisValue {
        try await running(script, within: limit) { digest in
            try await connection.send(Self.call(digest, keys, arguments), within: limit)
        }
    }

    /// Calls `run` with a script's digest, again if the server doesn't know it.
    private func running<Reply>(
        _ script: RedisScript, within limit: Duration?, _ run: ([UInt8]) async throws -> Reply
    ) async throws -> Reply {
        let digest: [UInt8] =
            if let known = digests.withLock({ $0[script] }) { known } else { try await load(script, limit) }
        do {
            return try await run(digest)
        } catch let failure as RedisFailure where failure.isUnknownScript {
            // The server was restarted.
            return try await run(load(script, limit))
        }
    }

    private static func call(_ digest: [UInt8], _ keys: [String], _ arguments: [[UInt8]]) -> [[UInt8]] {
        [Array("EVALSHA".utf8), digest, Array(String(keys.count).utf8)] + keys.map { Array($0.utf8) } + arguments
    }

    private func load(_ script: RedisScript, _ limit: Duration?) async throws -> [UInt8] {
        let reply = try await connection.send("SCRIPT", "LOAD", adapted(script.source), within: limit)
        guard let digest = reply.bytes else { throw RedisFailure.refused("it didn't load the script \(script.name)") }
        digests.withLock { $0[script] = digest }
        return digest
    }
}
