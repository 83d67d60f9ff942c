package import Pipeline

/// The memory that all decodes may take together, so that ten large pictures wait for each other rather than run the
/// machine out of memory.
///
/// A decode claims what it is estimated to need before it begins, and gives it back when it is over. What doesn't fit
/// waits, without a thread: the most urgent first, then in the order of arrival, and nothing passes the first in line.
/// What is larger than the whole budget goes alone; ``ImageLimits/memory`` is where a single picture is refused.
public final class MemoryBudget: Sendable {
    private struct Free: SharedResource {
        var bytes: Int

        mutating func take(_ need: Int, _: LoadPriority) -> Void? {
            guard need <= bytes else { return nil }
            bytes -= need
            return ()
        }
    }

    /// How many bytes there are to be claimed.
    package let bytes: Int

    private let line: WaitingLine<Free>

    /// Makes a budget.
    /// - Parameter bytes: how many all decodes may take together.
    public init(bytes: Int) {
        self.bytes = max(1, bytes)
        line = WaitingLine(Free(bytes: self.bytes))
    }

    /// The budget of every `Decode` that is given no other: 512 MB.
    public static let decoding = MemoryBudget(bytes: 512_000_000)

    /// How many decodes wait.
    package var waiting: Int { line.count }

    /// Runs work as soon as its memory is available, and releases it afterwards.
    /// - Throws: what the work throws; `CancellationError` if the task is cancelled while it waits.
    package func run<Value>(
        holding count: Int, priority: LoadPriority = .normal, _ work: () async throws -> Value
    ) async throws -> Value {
        try await claim(count, priority: priority)
        defer { release(count) }
        return try await work()
    }

    /// Claims memory if it is available now, and no waiter is as urgent.
    func claimNow(_ count: Int, priority: LoadPriority) -> Bool {
        line.takeNow(share(of: count), priority: priority) != nil
    }

    /// Claims memory as soon as it is available. Inside a load `priority` is only where it begins to wait: it moves as the
    /// load's priority changes.
    /// - Throws: `CancellationError` if the task is cancelled meanwhile.
    func claim(_ count: Int, priority: LoadPriority) async throws {
        try await line.take(share(of: count), priority: priority)
    }

    /// Gives back what was claimed.
    func release(_ count: Int) { line.update { $0.bytes += share(of: count) } }

    /// What is larger than everything takes everything.
    private func share(of count: Int) -> Int { min(max(0, count), bytes) }
}
