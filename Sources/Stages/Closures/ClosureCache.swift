public import Pipeline

/// A cache of one's own, as two closures: how it is read, and how it is written.
///
/// ```swift
/// let cache = ClosureCache(read: { key in await table.value(key) }, write: { product, key in await table.set(product, key) })
/// ImagePipeline {
///     ResolveIdentifier()
///     ReadCache(cache)
///     Fetch(responses, client)
///     Decode()
///     Downscale()
///     WriteCache(cache)
/// }
/// ```
///
/// What it gives is taken for fresh: how long it keeps something is its own affair.
public struct ClosureCache: Sendable {
    let read: @Sendable (VariantKey) async throws -> Product?
    let write: @Sendable (Product, VariantKey) async throws -> Void

    /// Makes a cache of closures.
    /// - Parameters:
    ///   - read: gives what is kept under a key, or `nil`. An error is a miss, and its text is in the trace.
    ///   - write: keeps a product under a key. An error leaves the load as it is, and its text is in the trace.
    public init(
        read: @escaping @Sendable (VariantKey) async throws -> Product?,
        write: @escaping @Sendable (Product, VariantKey) async throws -> Void
    ) {
        self.read = read
        self.write = write
    }
}
