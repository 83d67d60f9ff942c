import Essentials
import Pipeline
import PipelineHTTP

/// Results, failed attempts, and lists.
extension RedisStore {
    func variant(_ key: VariantKey, of generation: Int64, priority: LoadPriority) async throws -> EncodedImage? {
        let field = "v\(generation).\(keys.result(key))"
        let reply = try await reading { try await scripts.connection.send("HGET", keys.entry(key.source), field) }
        return try await image(reply?.bytes, as: field)
    }

    func keep(_ image: EncodedImage, as key: VariantKey, of generation: Int64) async {
        let isKept = await writing {
            guard let value = try await value(PackedImage.pack(image)) else { return false }
            let sealed = CheckedValue.seal(value, as: "v\(generation).\(keys.result(key))")
            return try await scripts.run(
                .keepResult, keys: [keys.entry(key.source)],
                [
                    Self.digits(generation), Array(keys.result(key).utf8), sealed, Self.digits(Self.mostVariants),
                ]
            ).integer == 1
        }
        if isKept == true { reports.report(.stored(bytes: image.bytes.count)) }
    }

    /// Finds a result that any machine has made; `nil` if there is none, or Redis failed.
    func result(named name: String, priority: LoadPriority) async throws -> EncodedImage? {
        let reply = try await reading { try await scripts.connection.send("GET", keys.result(named: name)) }
        return try await image(reply?.bytes, as: name)
    }

    /// Stores a result under the lease of its name, and ends the lease. Without one nothing is stored.
    func keep(_ image: EncodedImage, named name: String) async -> Bool {
        guard let lease else { return false }
        let isStored = await writing { () -> Bool? in
            guard let value = try await value(PackedImage.pack(image)) else { return nil }
            return try await scripts.run(
                .commitResult, keys: [keys.result(named: name), keys.lease(lease.name)],
                [
                    lease.value, Self.digits(limits.longestTime.nanoseconds / 1_000_000),
                    Array(keys.outcomes(lease.name).utf8), CheckedValue.seal(value, as: name),
                ]
            ).integer == 1
        }
        guard let isStored = isStored ?? nil else { return false }
        reports.report(isStored ? .stored(bytes: image.bytes.count) : .commitRefused)
        return isStored
    }

    func failures(of key: SourceKey) async throws -> FailedAttempts? {
        let reply = try await reading {
            try await scripts.connection.send("HMGET", keys.failures(key), "status", "attempts", "latest")
        }
        let numbers = reply?.array?.compactMap(\.integer) ?? []
        guard numbers.count == 3 else { return nil }
        return FailedAttempts(
            status: Int(numbers[0]), attempts: Int(numbers[1]),
            latest: Date(timeIntervalSince1970: Double(numbers[2]) / 1e6))
    }

    func recordFailure(status: Int, of key: SourceKey, at time: Date) async -> FailedAttempts? {
        await writing {
            let reply = try await scripts.run(
                .recordFailure, keys: [keys.failures(key)],
                [Self.digits(status), Self.digits(time.microsecondsSince1970), Self.digits(86_400_000)])
            return reply.integer.map { FailedAttempts(status: status, attempts: Int($0), latest: time) }
        } ?? nil
    }

    func forgetFailures(of key: SourceKey?) async {
        _ = await writing(takesRoom: false) {
            if let key {
                _ = try await scripts.connection.send("UNLINK", keys.failures(key))
                return
            }
            try await scan(keys.prefix + "f:*") { names in
                _ = try await scripts.connection.send([Array("UNLINK".utf8)] + names)
            }
        }
    }

    /// Passes the names of the keys that match a pattern on, some at a time.
    /// - Parameter mostPages: How long a list can be; the default is enough for 100 million keys.
    /// - Throws: ``RedisFailure``, also if the server's list is longer; the errors of `body`.
    func scan(
        _ pattern: String, mostPages: Int = 100_000, _ body: ([[UInt8]]) async throws -> Void
    ) async throws {
        var cursor = "0"
        for _ in 0..<mostPages {
            let reply = try await scripts.connection.send("SCAN", cursor, "MATCH", pattern, "COUNT", "1000").array ?? []
            let names = reply.last?.array?.compactMap(\.bytes) ?? []
            if !names.isEmpty { try await body(names) }
            cursor = reply.first?.text ?? "0"
            if cursor == "0" { return }
        }
        throw RedisFailure.refused("its list of keys doesn't end")
    }

    func remove(_ generations: [Int64], where isMeant: @escaping @Sendable (CacheEntry) -> Bool) async -> Int {
        var count = 0
        for generation in generations {
            // Few are removed in this way: by a person, or by a clean-up.
            guard let entry = try? await entries(after: generation.clampedSum(-1), limit: 1).first,
                entry.generation == generation, isMeant(entry)
            else { continue }
            count += await remove(entry.key) { $0.generation == generation }.count
        }
        return count
    }

    func entries(after generation: Int64, limit: Int) async throws -> [CacheEntry] {
        var (after, found) = (max(0, generation), [CacheEntry]())
        for _ in 0..<Self.mostEmptyPages where found.isEmpty {
            let reply = try await reading {
                try await scripts.run(
                    .list, keys: [keys.generations],
                    [Self.digits(after), Self.digits(max(1, limit)), Array(keys.epochs.utf8)], within: .seconds(5))
            }
            guard let reply, let (last, entries) = Self.page(reply) else { return [] }
            guard last > after else {
                throw LoadError(
                    .storeFailed, subject: "",
                    "The shared cache's list of entries doesn't advance beyond number \(after). Check what else writes to "
                        + "the Redis server.")
            }
            (after, found) = (last, entries)
        }
        guard !found.isEmpty else {
            throw LoadError(
                .storeFailed, subject: "",
                "The shared cache's list of entries has no entry in \(Self.mostEmptyPages) pages. Check what else writes to "
                    + "the Redis server.")
        }
        return found
    }

    /// How many pages may hold nothing but what was removed; enough for five million entries of 500 a page.
    static let mostEmptyPages = 10_000

    /// Reads a page of the list: the last generation that was looked at, and the entries. `nil` at the end of the list.
    static func page(_ reply: RedisValue) -> (last: Int64, entries: [CacheEntry])? {
        guard let values = reply.array, let last = values.first?.integer else { return nil }
        let entries = stride(from: 1, to: values.count - 2, by: 3).compactMap { index -> CacheEntry? in
            guard let key = values[index].text.flatMap({ SourceKey(entry: $0) }),
                let generation = values[index + 1].integer, let bytes = values[index + 2].bytes,
                let stored = CheckedHead(bytes, key: key, generation: generation)
            else { return nil }
            return CacheEntry(stored.head, bodyLength: stored.bodyLength, accessed: stored.head.stored)
        }
        return (last, entries)
    }

    /// The responses, and the bytes that the server uses for everything that it holds.
    func totals() async throws -> StoreTotals? {
        try await reading {
            var (last, count): (Int64, Int64) = (0, 0)
            // Those that have expired are listed until somebody looks.
            while true {
                let reply = try await scripts.run(
                    .count, keys: [keys.generations], [Self.digits(last), Self.digits(1000), Array(keys.epochs.utf8)],
                    within: .seconds(5))
                guard let page = reply.array, let end = page.first?.integer, end > last else { break }
                last = end
                count = count.clampedSum(max(0, page.last?.integer ?? 0))
            }
            // Not every user may ask for this.
            let memory = (try? await scripts.connection.ask("INFO", "memory").text) ?? ""
            let line = memory.split(whereSeparator: \.isNewline).first { $0.hasPrefix("used_memory:") }
            return StoreTotals(
                entries: Int(count), bytes: line.flatMap { Int($0.dropFirst(12)) } ?? 0, latestGeneration: last)
        }
    }

    func close() async {}
}

extension SourceKey {
    /// Reads the key at the end of an entry's name.
    fileprivate init?(entry: String) {
        let digits = Array(entry.utf8.suffix(64))
        let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap {
            UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16)
        }
        guard let digest = BLAKE2bDigest(bytes: bytes) else { return nil }
        self.init(digest: digest)
    }
}
