public import Pipeline

/// Limits the memory of all decodes together, so that ten large pictures wait for each other rather than exhaust the
/// machine's memory.
///
/// A decode claims its estimated memory before it begins and releases it at its end. Decodes that don't fit wait
/// without a thread, by priority, then first in, first out. A smaller decode never overtakes the first in line. A
/// decode larger than the whole budget runs alone; use ``ImageLimits/memory`` to refuse it.
///
/// A transform of this module that enlarges the picture claims its memory in the same way, and the load holds it until
/// `Encode` has written the file or a stage of another kind runs. Other transforms and encoders never wait, but their
/// memory counts, so that decodes wait for them.
///
/// A stage of your own that takes much memory claims it from the same budget. `PipelineResources.budget` has that of a
/// loader's decodes.
///
/// ```swift
/// try await budget.run(holding: 4 * image.byteCount, priority: load.priority) {
///     try await blurred(image)
/// }
/// ```
///
/// Never claim again inside of such work: work that waits for more of a budget while it holds all of it waits forever.
public final class MemoryBudget: Sendable {
    private struct Free: SharedResource {
        var bytes: Int

        mutating func take(_ need: Int, _: LoadPriority) -> Void? {
            guard need <= bytes else { return nil }
            bytes -= need
            return ()
        }
    }

    /// The size of the budget.
    package let bytes: Int

    private let line: WaitingLine<Free>

    /// Makes a budget.
    /// - Parameter bytes: The bytes that all decodes may take together, at least 1.
    public init(bytes: Int) {
        self.bytes = max(1, bytes)
        line = WaitingLine(Free(bytes: self.bytes))
    }

    /// The default budget of every `Decode`: 512 MB.
    public static let decoding = MemoryBudget(bytes: 512_000_000)

    /// The number of waiting decodes.
    package var waiting: Int { line.count }

    /// Runs work as soon as its memory is available, and releases the memory when the work has returned or thrown.
    ///
    /// Waiting takes no thread. It ends by priority, then first in, first out; inside a load the waiter moves as the
    /// load's priority changes. A task that is cancelled while it waits throws at once and holds nothing. Work that has
    /// begun keeps its memory until it ends, cancelled or not.
    /// - Parameters:
    ///   - count: The most memory that the work takes, in bytes. More than the whole budget counts as all of it: the work
    ///     then runs alone.
    ///   - priority: How urgent the work is; normal by default. A stage passes its load's.
    ///   - work: The work.
    /// - Throws: What the work throws; `CancellationError` if the task is cancelled while it waits.
    public func run<Value>(
        holding count: Int, priority: LoadPriority = .normal, _ work: () async throws -> Value
    ) async throws -> Value {
        try await claim(count, priority: priority)
        defer { release(count) }
        return try await work()
    }

    /// Claims memory if it is available now and no waiter has the same or a higher priority.
    func claimNow(_ count: Int, priority: LoadPriority) -> Bool {
        line.takeNow(share(of: count), priority: priority) != nil
    }

    /// Claims memory as soon as it is available. Inside a load, `priority` is only the initial one: the waiter moves as
    /// the load's priority changes.
    /// - Throws: `CancellationError` if the task is cancelled meanwhile.
    func claim(_ count: Int, priority: LoadPriority) async throws {
        try await line.take(share(of: count), priority: priority)
    }

    /// Claims memory as soon as it is available. The claim ends with its last reference if it isn't released before.
    /// - Throws: `CancellationError` if the task is cancelled meanwhile.
    package func claimed(_ count: Int, priority: LoadPriority) async throws -> MemoryClaim {
        try await claim(count, priority: priority)
        return MemoryClaim(count, of: self)
    }

    /// Claims memory without waiting, even if it isn't available: later claims then wait until it is.
    func charge(_ count: Int) -> MemoryClaim {
        line.update { $0.bytes -= share(of: count) }
        return MemoryClaim(count, of: self)
    }

    /// Releases claimed memory.
    func release(_ count: Int) { line.update { $0.bytes += share(of: count) } }

    /// Clamps a claim to the whole budget.
    private func share(of count: Int) -> Int { min(max(0, count), bytes) }
}
