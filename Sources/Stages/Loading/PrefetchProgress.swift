/// The progress of a ``Prefetcher``, now and with each change. The sequence ends when nothing is left to do. Slow
/// readers miss steps.
public struct PrefetchProgress: AsyncSequence, Sendable {
    /// How far a prefetcher has come since it last had nothing to do.
    public struct Element: Sendable, Hashable {
        /// How many images were requested, without those that were stopped.
        public internal(set) var total = 0
        /// How many of them are loaded.
        public internal(set) var loaded = 0
        /// How many of them failed.
        public internal(set) var failed = 0

        /// The share of images that are loaded or failed, 0 to 1; 1 if none were requested.
        public var fraction: Double { total == 0 ? 1 : Double(loaded + failed) / Double(total) }
    }

    let queue: PrefetchQueue

    /// Reads the progress.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let queue: PrefetchQueue
        private var last = -1

        init(queue: PrefetchQueue) { self.queue = queue }

        /// The progress, once it has changed; `nil` when nothing is left to do or the task is cancelled.
        public mutating func next() async -> Element? { await next(isolation: #isolation) }

        /// The progress, once it has changed, without leaving the reader's actor.
        /// - Parameter actor: The reader's actor.
        /// - Returns: `nil` when nothing is left to do or the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            guard let (version, progress) = await queue.progress(after: last) else { return nil }
            last = version
            return progress
        }
    }

    /// Starts reading.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(queue: queue) }
}
