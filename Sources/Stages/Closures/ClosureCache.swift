public import Pipeline

/// Adapts a cache of your own with two closures, which read and write it.
///
/// ```swift
/// let cache = ClosureCache(read: { key in await table.value(key) }, write: { product, key in await table.set(product, key) })
/// ImagePipeline {
///     ResolveIdentifier()
///     ReadCache(cache)
///     Fetch(client)
///     Decode()
///     Downscale()
///     WriteCache(cache)
/// }
/// ```
///
/// Whatever it returns counts as fresh, so expiry is up to your cache.
public struct ClosureCache: Sendable {
    let read: @Sendable (VariantKey) async throws -> LoadProduct?
    let write: @Sendable (LoadProduct, VariantKey) async throws -> Void
    let mark = CopyMark()

    /// Makes a cache from closures.
    /// - Parameters:
    ///   - read: Returns the product stored under a key, or `nil`. An error counts as a miss, and its text is in the
    ///     trace.
    ///   - write: Stores a product under a key. An error doesn't fail the load, and its text is in the trace.
    public init(
        read: @escaping @Sendable (VariantKey) async throws -> LoadProduct?,
        write: @escaping @Sendable (LoadProduct, VariantKey) async throws -> Void
    ) {
        self.read = read
        self.write = write
    }
}
