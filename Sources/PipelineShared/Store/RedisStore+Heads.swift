import Essentials
import Pipeline
import PipelineHTTP

/// The heads of the responses of a source, as a script returns them.
struct FoundHeads {
    /// The number of the last change; empty if nothing is stored.
    let change: [UInt8]
    /// The responses that hold, whose version is known and whose heads aren't damaged.
    let heads: [CheckedHead]

    /// Nothing is stored.
    static let none = FoundHeads(.null, key: SourceKey(digest: BLAKE2bDigest(of: "")))

    init(_ reply: RedisValue?, key: SourceKey) {
        let values = reply?.array ?? []
        change = values.first?.bytes ?? []
        heads = stride(from: 1, to: values.count - 1, by: 2).compactMap { index in
            guard let generation = values[index].integer, let bytes = values[index + 1].bytes else { return nil }
            return CheckedHead(bytes, key: key, generation: generation)
        }
    }
}

extension RedisStore {
    /// How often a change is tried that others come before.
    static var mostAttempts: Int { 8 }
    /// The most responses of a source, which differ in the fields that `Vary` names.
    static var mostVarying: Int { 16 }
    /// The most URLs and tags of a response.
    static var mostTargets: Int { 256 }

    func heads(_ key: SourceKey) async throws -> FoundHeads {
        FoundHeads(try await scripts.run(.find, keys: [keys.entry(key)], [Array(keys.epochs.utf8)]), key: key)
    }

    /// The heads, and in the same round trip the body of the response that was stored last, with its generation.
    func headsAndBody(_ key: SourceKey) async throws -> (FoundHeads, body: [UInt8]?, generation: Int64?) {
        let entry = keys.entry(key)
        let (last, found) = try await scripts.run(
            .find, keys: [entry], [Array(keys.epochs.utf8)], after: ["HMGET", entry, "b", "g"].map { Array($0.utf8) })
        return (FoundHeads(found, key: key), last.array?.first?.bytes, last.array?.last?.integer)
    }

    /// The body of a response; `nil` if it is gone.
    func body(of generation: Int64, _ key: SourceKey) async throws -> [UInt8]? {
        let command = ["HMGET", keys.entry(key), "b\(generation)", "b", "g"].map { Array($0.utf8) }
        let values = try await scripts.connection.send(command).array ?? []
        return values.dropFirst(values.last?.integer == generation ? 1 : 0).first?.bytes
    }

    /// Runs a read.
    /// - Returns: `nil` if Redis failed.
    /// - Throws: `CancellationError` if the task is cancelled; nothing else.
    func reading<Value>(_ read: () async throws -> Value) async throws -> Value? {
        do {
            return try await read()
        } catch let error as CancellationError {
            throw error
        } catch {
            return nil
        }
    }

    /// Runs a change in a task of its own: whoever began it may be cancelled, but others rely on it.
    /// - Parameter takesRoom: Whether Redis refuses it if it is full.
    /// - Returns: `nil` if Redis failed.
    func writing<Value: Sendable>(
        takesRoom: Bool = true, _ write: @escaping @Sendable () async throws -> Value
    ) async -> Value? {
        await Task {
            do {
                let value = try await write()
                if takesRoom { reports.write(isFull: false) }
                return value
            } catch {
                if (error as? RedisFailure)?.isFull == true { reports.write(isFull: true) }
                return nil
            }
        }.value
    }

    /// Returns the value to store in Redis for these bytes: the bytes, or a reference to the bucket's object. `nil` if
    /// they are too many to be shared, or can't be written to the bucket now.
    /// - Throws: `CancellationError` if the task is cancelled.
    func value(_ bytes: [UInt8]) async throws -> [UInt8]? {
        // Shorter ones are never taken for a reference.
        if bytes.count <= max(limits.bytes, 64) { return bytes }
        return try await blobs?.write(bytes)?.bytes
    }

    /// The result that Redis holds under a name; `nil` if it isn't one, is damaged, or can't be read where it is.
    /// - Throws: `CancellationError` if the task is cancelled; nothing else.
    func image(_ sealed: [UInt8]?, as name: String) async throws -> EncodedImage? {
        guard let value = sealed.flatMap({ CheckedValue.open($0, as: name) }) else { return nil }
        guard let reference = BlobReference(value) else { return PackedImage.unpack(value) }
        return try await blobs?.bytes(of: reference).flatMap { PackedImage.unpack($0) }
    }

    /// The number since which invalidations count: the lease's, or the time in microseconds.
    func since(_ time: Date) -> [UInt8] {
        Self.digits(settledGeneration > 0 ? settledGeneration : time.microsecondsSince1970)
    }

    /// How many milliseconds a response stays.
    func milliseconds(of response: StoredResponse) -> [UInt8] {
        let longest = limits.longestTime.seconds
        let fresh = response.freshUntil.map { max(0, $0.timeIntervalSince(response.stored)) } ?? longest
        return Self.digits(Int64(clamping: max(1, min(longest, fresh + limits.staleTime.seconds) * 1000)))
    }

    /// The names of epochs, separated by spaces.
    func names(_ targets: some Sequence<String>) -> [UInt8] {
        Array(targets.map { keys.epoch($0) }.joined(separator: " ").utf8)
    }

    static func digits(_ number: some BinaryInteger) -> [UInt8] { Array(String(number).utf8) }

    /// Generations between spaces.
    static func list(_ generations: some Sequence<Int64>) -> [UInt8] {
        Array(generations.reduce(" ") { $0 + "\($1) " }.utf8)
    }
}

extension Date {
    var microsecondsSince1970: Int64 { Int64(clamping: (timeIntervalSince1970 * 1e6).rounded()) }
}
