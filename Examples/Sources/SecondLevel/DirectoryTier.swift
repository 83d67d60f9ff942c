import Foundation
import Stages

/// A tier in a folder that machines mount: each response is a file there, and one machine fetches for all.
struct DirectoryTier: ResponseStore, FetchLeases {
    let folder: URL

    /// Runs work on all stored responses, the latest first, while everybody else waits.
    private func alone<Value: Sendable>(_ work: @escaping @Sendable ([StoredResponse]) throws -> Value) async throws
        -> Value
    {
        try await BlockingThreads.files.run { [folder] _ in
            let lock = try FileLease(folder.appending(path: "lock"))
            lock.wait()
            defer { withExtendedLifetime(lock) {} }
            let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            let stored = files.filter { $0.pathExtension == "response" }
                .compactMap { file in (try? Data(contentsOf: file)).flatMap { StoredResponse(packed: [UInt8]($0)) } }
            return try work(stored.sorted { $0.generation > $1.generation })
        }
    }

    func find(
        _ key: SourceKey, priority: LoadPriority, choose: @escaping @Sendable ([StoredResponse]) -> StoredResponse?
    ) async throws -> StoreFinding {
        let found = try? await alone { stored in
            let own = stored.filter { $0.key == key }
            let chosen = choose(own.map(\.head))?.generation
            return own.first { $0.generation == chosen }.map { .found($0) } ?? StoreFinding.nothing(among: own.count)
        }
        try Task.checkCancellation()
        return found ?? .unavailable
    }

    func insert(
        _ response: StoredResponse, askedAt time: Date,
        replacing replace: @escaping @Sendable ([StoredResponse]) -> Set<Int64>?
    ) async -> StoreInsertion {
        let inserted = try? await alone { stored -> StoreInsertion in
            let isFromFuture = time > response.stored + 2
            let ends = response.targets.compactMap { read(Date.self, "invalid", $0) }
            guard !ends.contains(where: { isFromFuture || time < $0 }),
                let replaced = replace(stored.filter { $0.key == response.key }.map(\.head))
            else { return .outdated }
            var response = response
            response.generation = (read(Int64.self, "last") ?? .random(in: 1..<1 << 62)) + 1
            try write(response.generation, "last")
            try Data(response.packed).write(to: file(of: response), options: .atomic)
            for old in stored where replaced.contains(old.generation) { try? remove(old) }
            return .inserted(response.generation, usedAt: response.stored, replaced: replaced)
        }
        return inserted ?? .unavailable
    }

    func update(_ response: StoredResponse, if isCurrent: @escaping @Sendable (StoredResponse) -> Bool) async -> Bool? {
        try? await alone { stored in
            guard let old = stored.first(where: { $0.generation == response.generation }), isCurrent(old.head) else {
                return false
            }
            var new = response
            new.body = old.body
            try Data(new.packed).write(to: file(of: new), options: .atomic)
            return true
        }
    }

    func remove(
        _ key: SourceKey, where isMeant: @escaping @Sendable (StoredResponse) -> Bool
    ) async -> [StoredResponse] {
        await remove { $0.key == key && isMeant($0.head) }.map(\.head)
    }

    func removeAll(where isMeant: @escaping @Sendable (CacheEntry) -> Bool) async -> Int {
        await remove { isMeant(CacheEntry($0.head, bodyLength: $0.body.count, accessed: $0.stored)) }.count
    }

    func invalidate(_ target: String, at time: Date) async -> Int {
        try? write(time, "invalid", target)
        return await remove { $0.targets.contains(target) }.count
    }

    func close() async {}

    private func remove(where isMeant: @escaping @Sendable (StoredResponse) -> Bool) async -> [StoredResponse] {
        let removed = try? await alone { stored in
            let meant = stored.filter(isMeant)
            for response in meant { try remove(response) }
            return meant
        }
        return removed ?? []
    }
    private func remove(_ response: StoredResponse) throws {
        try FileManager.default.removeItem(at: file(of: response))
    }
    private func file(of response: StoredResponse) -> URL { folder.appending(path: "\(response.generation).response") }
    private func file(_ kind: String, _ name: String) -> URL {
        folder.appending(path: "\(kind)-\(BLAKE2bDigest(of: name))")
    }
    private func read<Value: Decodable>(_: Value.Type, _ kind: String, _ name: String = "") -> Value? {
        (try? Data(contentsOf: file(kind, name))).flatMap { try? JSONDecoder().decode(Value.self, from: $0) }
    }
    private func write(_ value: some Encodable, _ kind: String, _ name: String = "") throws {
        try JSONEncoder().encode(value).write(to: file(kind, name), options: .atomic)
    }
}
