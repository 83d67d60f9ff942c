package import Essentials
import HTTPTypes
package import Pipeline

/// Results that pipelines made of files. A file has no response, so one without a body stands for it: results belong to
/// that one, are evicted and removed with it, and are listed under it.
extension HTTPCache {
    /// The result that was made of a file under a key; `nil` if there is none, or it is damaged.
    /// - Parameter file: The file's key, which changes when the file does.
    /// - Throws: `CancellationError` if the task is cancelled; nothing else.
    package func variant(
        _ key: VariantKey, ofFile file: SourceKey, priority: LoadPriority
    ) async throws -> EncodedImage? {
        guard let generation = try await standIn(for: file, priority) else { return nil }
        touch(generation)
        return try await variant(key, of: generation, priority: priority)
    }

    /// Stores a result of a file, unless the file's target became invalid after the file was read.
    /// - Parameters:
    ///   - file: The file's key, which changes when the file does.
    ///   - target: The target by which results of every state of the file are removed.
    ///   - time: A time before the file was read.
    package func keep(
        _ image: EncodedImage, as key: VariantKey, ofFile file: SourceKey, target: String, readAt time: Date
    ) async {
        let since = time.toMicroseconds
        let response = StoredResponse(
            generation: 0, key: file.ofResults, target: target, status: 200, headers: [:], requestTime: since,
            responseTime: since, stored: clock.now.toMicroseconds, expires: nil, body: [], selecting: .none)
        let inserted = await store.insert(response, askedAt: since) { [invalidations, clock] stored in
            // What stands for the file already has results of other sizes.
            guard stored.isEmpty, !invalidations.contains(target, since: since, now: clock.now) else { return nil }
            return []
        }
        switch inserted {
        case .inserted(let generation, let usedAt, _):
            accesses.advance(to: usedAt)
            await keep(image, as: key, of: generation)
        case .outdated:
            guard !isInvalid(target, askedAt: since),
                let generation = try? await standIn(for: file, .normal)
            else { return }
            await keep(image, as: key, of: generation)
        case .unavailable: break
        }
    }

    private func standIn(for file: SourceKey, _ priority: LoadPriority) async throws -> Int64? {
        guard case .found(let response) = try await store.find(file.ofResults, priority: priority, choose: \.first)
        else { return nil }
        return response.generation
    }
}

extension SourceKey {
    /// The key of what stands for a file with this key. It is another one, so that no lookup finds a response without a
    /// body; it belongs to the same partition.
    fileprivate var ofResults: SourceKey {
        SourceKey(digest: BLAKE2bDigest(of: digest.bytes + Array("results".utf8)).withEnd(of: digest))
    }
}
