public import Pipeline

/// Writes the load's product to a ``ClosureCache``. A `Store` may follow.
public struct WriteCache: KeyedStage {
    public let accepts: Phases = [.decoded, .encoded]
    public let produces: Phases = [.decoded, .encoded]

    private let cache: ClosureCache

    /// Makes a stage that writes to `cache`.
    public init(_ cache: ClosureCache) { self.cache = cache }

    public var storesResult: Bool { true }

    public var identity: StageIdentity? { StageIdentity(over: [cache.mark]) }

    /// Calls the write closure. If it fails, the load continues.
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
