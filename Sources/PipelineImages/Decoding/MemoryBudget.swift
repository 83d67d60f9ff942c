import DequeModule
package import Pipeline

/// The memory that all decodes may take together, so that ten large pictures wait for each other rather than run the
/// machine out of memory.
///
/// A decode claims what it is estimated to need before it begins, and gives it back when it is over. What doesn't fit
/// waits, without a thread: the most urgent first, then in the order of arrival, and nothing passes the first in line.
/// What is larger than the whole budget goes alone; ``ImageLimits/memory`` is where a single picture is refused.
public final class MemoryBudget: Sendable {
    private final class Waiter: Sendable {
        let bytes: Int
        let continuation: CheckedContinuation<Void, any Error>

        init(bytes: Int, continuation: CheckedContinuation<Void, any Error>) {
            self.bytes = bytes
            self.continuation = continuation
        }
    }

    private struct State {
        var claimed = 0
        var lines: [Deque<(number: Int, waiter: Waiter)>] = LoadPriority.allCases.map { _ in [] }
        var lastNumber = 0
        /// Those that were cancelled before they could wait.
        var cancelled: Set<Int> = []

        /// Takes who waits out of its line; `nil` if it doesn't.
        mutating func leave(_ number: Int) -> Waiter? {
            for line in lines.indices {
                guard let place = lines[line].firstIndex(where: { $0.number == number }) else { continue }
                return lines[line].remove(at: place).waiter
            }
            return nil
        }
    }

    /// How many bytes there are to be claimed.
    public let bytes: Int

    private let state = Lock(State())

    /// Makes a budget.
    /// - Parameter bytes: how many all decodes may take together.
    public init(bytes: Int) { self.bytes = max(1, bytes) }

    /// The budget of every `Decode` that is given no other: 512 MB.
    public static let decoding = MemoryBudget(bytes: 512_000_000)

    /// How many decodes wait.
    public var waiting: Int { state.withLock { $0.lines.reduce(0) { $0 + $1.count } } }

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
        state.withLock { state in
            let isFirst = state.lines[Int(priority.rawValue)...].allSatisfy(\.isEmpty)
            guard isFirst, fits(count, state) else { return false }
            state.claimed += share(of: count)
            return true
        }
    }

    /// Claims memory as soon as it is available. Inside a load `priority` is only where it begins to wait: it moves as the
    /// load's priority changes.
    /// - Throws: `CancellationError` if the task is cancelled meanwhile.
    func claim(_ count: Int, priority: LoadPriority) async throws {
        let number = state.withLock { state -> Int in
            state.lastNumber += 1
            return state.lastNumber
        }
        try await AdjustablePriority.following {
            self.move(number, to: $0)
        } _: {
            try await wait(count, number, AdjustablePriority.current?.value ?? priority)
        }
        // A cancellation that came after the claim has left a mark that nobody else will take away.
        state.withLock { _ = $0.cancelled.remove(number) }
    }

    private func wait(_ count: Int, _ number: Int, _ priority: LoadPriority) async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let waiter = Waiter(bytes: count, continuation: continuation)
                let isCancelled = state.withLock { state -> Bool in
                    if state.cancelled.remove(number) != nil { return true }
                    state.lines[Int(priority.rawValue)].append((number, waiter))
                    return false
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) } else { admit() }
            }
        } onCancel: {
            let waiter = state.withLock { state -> Waiter? in
                if let waiter = state.leave(number) { return waiter }
                state.cancelled.insert(number)
                return nil
            }
            waiter?.continuation.resume(throwing: CancellationError())
            // It may have been the first in line, which kept others waiting.
            admit()
        }
    }

    /// Takes who still waits to the end of another line.
    private func move(_ number: Int, to priority: LoadPriority) {
        state.withLock { state in
            guard let waiter = state.leave(number) else { return }
            state.lines[Int(priority.rawValue)].append((number, waiter))
        }
        // Another may be the first now.
        admit()
    }

    /// Gives back what was claimed.
    func release(_ count: Int) {
        state.withLock { $0.claimed -= share(of: count) }
        admit()
    }

    /// Lets go whoever is first in line, as long as there is room.
    private func admit() {
        let admitted = state.withLock { state -> [Waiter] in
            var admitted: [Waiter] = []
            while let line = state.lines.lastIndex(where: { !$0.isEmpty }), let next = state.lines[line].first?.waiter,
                fits(next.bytes, state)
            {
                state.lines[line].removeFirst()
                state.claimed += share(of: next.bytes)
                admitted.append(next)
            }
            return admitted
        }
        for waiter in admitted { waiter.continuation.resume() }
    }

    private func fits(_ count: Int, _ state: State) -> Bool { share(of: count) <= bytes - state.claimed }

    /// What is larger than everything takes everything.
    private func share(of count: Int) -> Int { min(max(0, count), bytes) }
}
