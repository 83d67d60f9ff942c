import Pipeline
import PipelineHTTP

/// What a Redis server says of itself.
package struct FleetServer: Sendable, Hashable {
    /// Its version, such as `7.0.15`.
    package let version: String
    /// The bytes that it uses for everything that it holds.
    package let usedBytes: Int
    /// Its `maxmemory`; 0 if there is no limit.
    package let byteLimit: Int
    /// Its `maxmemory-policy`, such as `volatile-lru`.
    package let evictionPolicy: String
    /// Whether it is part of a cluster, which isn't supported.
    package let isClustered: Bool

    /// Whether a ``Fleet`` can use it: Redis 6 or later, or Valkey, and no cluster.
    package var isUsable: Bool { !isOld && !isClustered }

    /// Reads the reply to `INFO`.
    init(information: String) {
        var values: [Substring: Substring] = [:]
        for line in information.split(whereSeparator: \.isNewline) {
            guard let colon = line.firstIndex(of: ":") else { continue }
            values[line[..<colon]] = line[line.index(after: colon)...]
        }
        version = plainText(values["redis_version"] ?? "", limit: 40)
        usedBytes = max(0, values["used_memory"].flatMap { Int($0) } ?? 0)
        byteLimit = max(0, values["maxmemory"].flatMap { Int($0) } ?? 0)
        evictionPolicy = plainText(values["maxmemory_policy"] ?? "", limit: 40)
        isClustered = values["cluster_enabled"] == "1"
    }

    private var isOld: Bool { version.split(separator: ".").first.flatMap { Int($0) }.map { $0 < 6 } ?? true }

    /// What its operator should change; empty if nothing.
    package var advice: [String] {
        var advice: [String] = []
        if isOld { advice.append("Redis 6 or later is needed") }
        if isClustered { advice.append("a cluster can't be used") }
        if byteLimit == 0 { advice.append("set maxmemory") }
        if evictionPolicy == "noeviction" { advice.append("set maxmemory-policy to volatile-lru") }
        return advice
    }
}

extension Fleet {
    /// Finds out whether the server can be used: whether this user may run scripts and write there.
    /// - Throws: `LoadError` with `unreachable` if it doesn't reply, or `refused` if it refuses a script;
    ///   `CancellationError` if the task is cancelled.
    package func check() async throws {
        do {
            // A lease that nobody waits for writes a key, and ends by itself.
            _ = try await store.scripts.run(
                .acquire, keys: [store.keys.lease("inspection"), store.keys.counter],
                [RedisStore.digits(1000), []])
        } catch let failure as RedisFailure {
            throw error(failure)
        }
    }

    /// Asks the server what it is, and whether it can be used.
    /// - Returns: `nil` if this user may not run `INFO`, which nothing but this needs.
    /// - Throws: As ``check()`` does.
    package func inspectServer() async throws -> FleetServer? {
        try await check()
        do {
            return FleetServer(information: try await connection.send("INFO").text ?? "")
        } catch RedisFailure.refused {
            return nil
        } catch let failure as RedisFailure {
            throw error(failure)
        }
    }

    /// Asks the store of large responses whether objects can be written, read and deleted there.
    /// - Returns: Whether it knows conditional writes; `nil` without such a store.
    /// - Throws: `LoadError` with `storeFailed`; `CancellationError` if the task is cancelled.
    package func inspectBlobs() async throws -> Bool? { try await store.blobs?.inspect() }

    /// Removes every response and result from the shared tier. Other tiers of the machines keep theirs.
    /// - Returns: The number of sources whose responses were removed.
    /// - Throws: `LoadError` if the server fails; `CancellationError` if the task is cancelled.
    @discardableResult
    public func removeAll() async throws -> Int {
        do {
            var count = 0
            let last = try await connection.send("GET", store.keys.counter).text ?? "0"
            // Epochs stay: requests in flight must not store what was made invalid.
            for kind in ["r", "v", "c", "f"] {
                try await store.scan("\(store.keys.prefix)\(kind):*") { [connection] names in
                    let removed = try await connection.send([Array("UNLINK".utf8)] + names, within: .seconds(5)).integer
                    if kind == "r" { count = count.clampedSum(Int(max(0, removed ?? 0))) }
                }
            }
            // What was stored meanwhile stays listed.
            _ = try await connection.send(
                "ZREMRANGEBYSCORE", store.keys.generations, "-inf", last, within: .seconds(5))
            return count
        } catch let failure as RedisFailure {
            throw error(failure)
        }
    }

    private func error(_ failure: RedisFailure) -> LoadError {
        let code = if case .refused = failure { LoadError.Code.refused } else { LoadError.Code.unreachable }
        return LoadError(code, subject: connection.address.description, "The shared cache can't be used: \(failure).")
    }
}
