public import Pipeline

/// Keeps what the load has made in a ``ClosureCache``. A `Store` may follow.
public struct WriteCache: Stage {
    /// Something that was decoded, and perhaps encoded again.
    public let accepts: Phases = [.decoded, .encoded]
    /// The same.
    public let produces: Phases = [.decoded, .encoded]

    private let cache: ClosureCache

    /// Keeps in `cache`.
    public init(_ cache: ClosureCache) { self.cache = cache }

    /// Goes by the load's keys.
    public var needsIdentity: Bool { true }

    /// Gives the product to the closure. What can't be kept is answered all the same.
    /// - Throws: `CancellationError` if the task is cancelled.
    public func run(_ load: inout Load) async throws -> Outcome {
        guard let key = load.variantKey, let product = load.content.product else { return .skipped }
        load.note(key: .variant(key))
        do {
            try await cache.write(product, key)
            return .done
        } catch let error where !(error is CancellationError) {
            load.note(.cacheFailed("\(error)"))
            return .skipped
        }
    }
}
