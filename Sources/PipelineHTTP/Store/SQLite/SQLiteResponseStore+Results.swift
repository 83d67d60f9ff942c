import Essentials
import Pipeline

/// What the store keeps besides responses: failures, and the results that were made of responses.
extension SQLiteResponseStore {
    func failures(of key: SourceKey) async throws -> FailedAttempts? {
        try await threads.run { [database] in database.read($0) { try $0.failures(of: key) } ?? nil }
    }

    func recordFailure(status: Int, of key: SourceKey, at time: Date) async -> FailedAttempts? {
        await change { [bounds] transaction in
            try transaction.recordFailure(status: status, of: key, at: time)
            try transaction.forgetFailures(beyond: bounds.failures)
            return try transaction.database.failures(of: key)
        } ?? nil
    }

    func forgetFailures(of key: SourceKey?) async { await change { try $0.forgetFailures(of: key) } }

    func variant(_ key: VariantKey, of generation: Int64, priority: LoadPriority) async throws -> EncodedImage? {
        try await threads.run(priority: priority) { [database] in
            database.read($0) { try $0.variant(key.digest, of: generation) } ?? nil
        }
    }

    func largestVariant(
        like key: VariantKey, of generation: Int64, priority: LoadPriority
    ) async throws -> EncodedImage? {
        try await threads.run(priority: priority) { [database] in
            database.read($0) { try $0.largestVariant(like: key.digest, of: generation) } ?? nil
        }
    }

    func keep(_ image: EncodedImage, as key: VariantKey, of generation: Int64) async {
        guard image.bytes.count <= min(Self.longestVariant, byteLimit / 4) else { return }
        let isBounded = await change { [bounds] transaction in
            try transaction.insert(image, as: key.digest, of: generation, most: Self.mostVariants)
            return try transaction.evict(bounds)
        }
        if isBounded == false { await evict() }
    }

    /// The longest result that is stored, in bytes: SQLite holds it in one piece.
    private static let longestVariant = 4 << 20
}
