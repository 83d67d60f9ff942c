public import Pipeline

/// Looks for the list's final product in a ``ClosureCache``; a hit ends the load.
public struct ReadCache: KeyedStage {
    public let accepts: Phases = .empty
    public let produces: Phases = [.empty, .ready]

    private let cache: ClosureCache

    /// Makes a stage that looks in `cache`.
    public init(_ cache: ClosureCache) { self.cache = cache }

    public var identity: StageIdentity? { StageIdentity(over: [cache.mark]) }

    /// Calls the read closure.
    /// - Throws: `CancellationError` if the task is cancelled; any other error of the closure counts as a miss.
    public func run(_ load: inout Load) async throws -> Outcome {
        guard let key = load.variantKey else { return .skipped }
        load.note(key: .variant(key))
        do {
            guard let product = try await cache.read(key) else { return .miss }
            load.report(.hasCache(product, source: .memory))
            load.advance(to: .ready(product), from: .memory)
            return .hit
        } catch let error where !(error is CancellationError) {
            load.note(.cacheFailed("\(error)"))
            return .miss
        }
    }
}
