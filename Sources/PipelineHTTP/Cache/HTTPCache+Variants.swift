package import Pipeline

/// Results that pipelines made of stored responses. Each belongs to one response and is removed with it.
extension HTTPCache {
    /// The result that was made of a response under a key; `nil` if there is none, or it is damaged.
    /// - Throws: `CancellationError` if the task is cancelled; nothing else.
    package func variant(_ key: VariantKey, of generation: Int64, priority: LoadPriority) async throws -> EncodedImage?
    {
        var image = try await store.variant(key, of: generation, priority: priority)
        image?.isKept = true
        return image
    }

    /// The widest result that was made of a response under a key that is alike; `nil` if there is none, or it is damaged.
    /// - Throws: `CancellationError` if the task is cancelled; nothing else.
    package func largestVariant(
        like key: VariantKey, of generation: Int64, priority: LoadPriority
    ) async throws -> EncodedImage? {
        try await store.largestVariant(like: key, of: generation, priority: priority)
    }

    /// Stores a result of a response for as long as the response is stored.
    package func keep(_ image: EncodedImage, as key: VariantKey, of generation: Int64) async {
        await store.keep(image, as: key, of: generation)
    }
}
