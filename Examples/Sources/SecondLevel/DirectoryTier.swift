import Foundation
import Stages

/// A store in a folder that machines mount: each response is a file. Reading or changing them takes a lease.
struct DirectoryTier: ResponseStore {
    let folder: URL
    let leases: FileLeases

    init(_ folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        (self.folder, leases) = (folder, FileLeases(folder: folder.path))
    }

    func find(
        _ key: SourceKey, priority: LoadPriority, choose: @escaping @Sendable ([StoredResponse]) -> StoredResponse?
    ) async throws -> StoreFinding {
        let found = await alone { stored in
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
        await alone { stored in
            let ends = try response.targets.compactMap { try read(Date.self, "invalid-\(BLAKE2bDigest(of: $0))") }
            guard !ends.contains(where: { time < $0 || time > response.stored + 2 }),
                let replaced = replace(stored.filter { $0.key == response.key }.map(\.head))
            else { return .outdated }
            var response = response
            response.generation = (try read(Int64.self, "last") ?? .random(in: 1..<1 << 62)) + 1
            try write(JSONEncoder().encode(response.generation), "last")
            try write(Data(response.packed), "\(response.generation).response")
            try stored.filter { replaced.contains($0.generation) }.forEach(remove)
            return .inserted(response.generation, usedAt: response.stored, replaced: replaced)
        } ?? .unavailable
    }

    func update(_ response: StoredResponse, if isCurrent: @escaping @Sendable (StoredResponse) -> Bool) async -> Bool? {
        await alone { stored in
            var new = response
            guard let old = stored.first(where: { $0.generation == new.generation }), isCurrent(old.head) else {
                return false
            }
            new.body = old.body
            try write(Data(new.packed), "\(new.generation).response")
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
        _ = await alone { _ in try write(JSONEncoder().encode(time), "invalid-\(BLAKE2bDigest(of: target))") }
        return await remove { $0.targets.contains(target) }.count
    }

    func close() async {}
}

extension DirectoryTier {
    /// Runs work on all stored responses, the latest first, while everybody else waits; `nil` if it fails.
    private func alone<Value: Sendable>(_ work: @escaping @Sendable ([StoredResponse]) throws -> Value) async -> Value?
    {
        // A change that a load has begun is made, even if the load is cancelled.
        try? await Task {
            while true {
                guard case .hold(let hold) = try await leases.turn("store", patience: .seconds(5), look: { false })
                else {
                    continue
                }
                let value = try await BlockingThreads.files.run { _ in try work(stored()) }
                await hold.end(isStored: true)
                return value
            }
        }.value
    }

    private func stored() throws -> [StoredResponse] {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "response" }
            .compactMap { StoredResponse(packed: [UInt8](try Data(contentsOf: $0))) }
            .sorted { $0.generation > $1.generation }
    }

    private func remove(where isMeant: @escaping @Sendable (StoredResponse) -> Bool) async -> [StoredResponse] {
        await alone { stored in
            try stored.filter(isMeant).map {
                try remove($0)
                return $0
            }
        } ?? []
    }

    private func remove(_ response: StoredResponse) throws {
        try FileManager.default.removeItem(at: folder.appending(path: "\(response.generation).response"))
    }

    private func read<Value: Decodable>(_: Value.Type, _ name: String) throws -> Value? {
        guard let bytes = try? Data(contentsOf: folder.appending(path: name)) else { return nil }
        return try JSONDecoder().decode(Value.self, from: bytes)
    }

    private func write(_ bytes: Data, _ name: String) throws {
        try bytes.write(to: folder.appending(path: name), options: .atomic)
    }
}
