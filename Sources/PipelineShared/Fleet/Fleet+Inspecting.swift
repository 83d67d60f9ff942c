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
    /// Whether it is part of a cluster.
    package let isClustered: Bool
    /// Whether it writes down each change (AOF).
    let appends: Bool
    private let isInOneSlot: Bool

    /// Whether a ``Fleet`` can use it: Redis 6 or later, or Valkey, and no cluster but of one shard.
    package var isUsable: Bool { !isOld && (!isClustered || isInOneSlot) }

    /// Reads the reply to `INFO`.
    /// - Parameter isInOneSlot: Whether all keys of the fleet are in one slot of a cluster.
    init(information: String, isInOneSlot: Bool = false) {
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
        appends = values["aof_enabled"] == "1"
        self.isInOneSlot = isInOneSlot
    }

    private var isOld: Bool { version.split(separator: ".").first.flatMap { Int($0) }.map { $0 < 6 } ?? true }

    /// What its operator should change; empty if nothing.
    package var advice: [String] {
        var advice: [String] = []
        if isOld { advice.append("Redis 6 or later is needed") }
        if isClustered, !isInOneSlot { advice.append("a cluster needs a \(Self.tag)") }
        if byteLimit == 0 { advice.append("set maxmemory") }
        return advice
    }

    /// What makes a cluster of one shard usable.
    static let tag = "namespace in braces, such as {img}, and only one shard"

    /// What it evicts when it is full, and what that costs.
    package var eviction: String {
        let cost: String? =
            switch evictionPolicy {
            case "volatile-lru", "volatile-lfu": nil
            case "noeviction": "when it is full, nothing new is stored"
            case "volatile-ttl": "leases go first, and each machine then sends a request of its own"
            case "volatile-random": "leases and what was used just now go as well"
            default: "the log of removals goes as well, and machines then empty their memory"
            }
        return cost.map { "\(evictionPolicy): \($0); set maxmemory-policy to volatile-lru" } ?? evictionPolicy
    }

    /// What a restart loses, and whether what was removed stays removed.
    /// - Parameter snapshots: When it saves snapshots, such as `3600 1`; empty for never, `nil` if it doesn't say.
    package func persistence(_ snapshots: String?) -> (state: String, isWell: Bool) {
        switch (appends, snapshots) {
        case (true, _):
            ("each change is written: a crash undoes removals of the last second; set appendonly to no", true)
        case (false, ""): ("none: it is empty after a restart, and fills again", true)
        case (false, .some):
            ("snapshots: a restart brings back what was removed since the last one; set save to \"\"", false)
        case (false, nil):
            ("not each change is written; if it saves snapshots, set save to \"\" (allow CONFIG GET to see that)", true)
        }
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
            let information = try await connection.ask("INFO").text ?? ""
            return FleetServer(information: information, isInOneSlot: store.keys.areInOneSlot)
        } catch RedisFailure.refused {
            return nil
        } catch let failure as RedisFailure {
            throw error(failure)
        }
    }

    /// Asks the store of large responses whether objects can be written, read and deleted there.
    /// - Returns: Whether it knows conditional writes, and whether it tells a missing object from one that may not be read;
    ///   `nil` without such a store.
    /// - Throws: `LoadError` with `storeFailed`; `CancellationError` if the task is cancelled.
    package func inspectBlobs() async throws -> (isConditional: Bool, tellsMissing: Bool)? {
        try await store.blobs?.inspect()
    }

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

    /// Deletes every object of the bucket below its prefix that is named by a digest: those of removed images, those that
    /// Redis doesn't know any more, and those of other fleets with the same prefix. Responses that still refer to one are
    /// fetched again. Call it after ``removeAll()``, or after the images that must not be kept were removed.
    /// - Returns: The number of objects; `nil` without a bucket.
    /// - Throws: `LoadError` with `storeFailed` if the bucket fails, or may not be listed; `CancellationError` if the task
    ///   is cancelled.
    @discardableResult
    public func removeAllObjects() async throws -> Int? { try await store.blobs?.removeAll() }

    func error(_ failure: RedisFailure) -> LoadError {
        let code = if case .refused = failure { LoadError.Code.refused } else { LoadError.Code.unreachable }
        let isClusters = failure.description.hasPrefix("CROSSSLOT") || failure.description.hasPrefix("MOVED")
        return LoadError(
            code, subject: connection.address.description,
            "The shared cache can't be used: \(failure.sentence)"
                + (isClusters ? " A cluster needs a \(FleetServer.tag)." : ""))
    }
}
