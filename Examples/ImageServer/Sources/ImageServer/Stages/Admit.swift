import Stages
import Synchronization

/// Runs its body for a limited number of loads at a time, and refuses further ones.
///
/// It stands inside `Coalesce`: a load that joins another is never refused, and a hit in memory doesn't get here.
struct Admit: CompositeStage {
    var body: Chain
    private let queue: WorkQueue

    init(_ queue: WorkQueue, @ChainBuilder _ body: () -> Chain) {
        self.queue = queue
        self.body = body()
    }

    func run(_ load: inout Load) async throws -> Outcome {
        guard queue.enter() else {
            throw LoadError(
                .busy, subject: load.subject, "The server has as much work as it can take. Ask again in a second.",
                retryAfter: .seconds(1))
        }
        defer { queue.leave() }
        try await body.run(&load)
        return .done
    }
}

/// Counts the loads that wait or work.
final class WorkQueue: Sendable {
    private let limit: Int
    private let loads = Atomic<Int>(0)

    init(limit: Int) { self.limit = limit }

    /// The number of loads now.
    var count: Int { loads.load(ordering: .relaxed) }

    /// Whether the next load would be refused.
    var isFull: Bool { count >= limit }

    /// Counts a load; `false` if there are too many.
    func enter() -> Bool {
        if loads.add(1, ordering: .relaxed).newValue <= limit { return true }
        leave()
        return false
    }

    func leave() { loads.subtract(1, ordering: .relaxed) }
}
