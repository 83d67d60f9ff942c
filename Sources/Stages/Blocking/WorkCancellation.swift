import Synchronization

/// Tells work on a thread of ours that nobody waits for it any more. Every long step has to look.
public final class WorkCancellation: Sendable {
    private let flag = Atomic<Bool>(false)

    /// Not cancelled yet.
    public init() {}

    /// Whether the work should stop.
    public var isCancelled: Bool { flag.load(ordering: .relaxed) }

    /// Asks the work to stop.
    public func cancel() { flag.store(true, ordering: .relaxed) }

    /// Stops the work here if it should.
    /// - Throws: `CancellationError`.
    public func check() throws { if isCancelled { throw CancellationError() } }
}
