import Essentials
import Metrics
import Pipeline

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
        let origin: String? = if case .url(let url) = load.request.source { url.host()?.lowercased() } else { nil }
        guard queue.enter(origin) else {
            throw LoadError(
                .busy, subject: load.subject, "The server has as much work as it can take. Ask again in a second.",
                retryAfter: .seconds(1))
        }
        defer { queue.leave(origin) }
        try await body.run(&load)
        return .done
    }
}

/// Counts the loads that wait or work, of each origin too: one that is slow leaves room for the others.
final class WorkQueue: Sendable {
    private struct State {
        var loads = 0
        var origins: [String: Int] = [:]
    }

    private let limit, originLimit: Int
    private let state = Lock(State())

    private let length: Meter
    private let memory: FreedMemory

    /// - Parameters:
    ///   - limit: The most loads.
    ///   - originLimit: The most loads of one origin.
    ///   - metrics: Gets the number of loads as `http_queue`.
    ///   - memory: Is told when a load ends.
    init(limit: Int, originLimit: Int, metrics: any MetricsFactory, memory: FreedMemory) {
        (self.limit, self.originLimit, self.memory) = (limit, originLimit, memory)
        length = Meter(label: "http_queue", factory: metrics)
    }

    /// The number of loads now.
    var count: Int { state.withLock { $0.loads } }

    /// Counts a load; `false` if there are too many.
    /// - Parameter origin: The source's host; `nil` for a file.
    func enter(_ origin: String?) -> Bool {
        let isAdmitted = state.withLock { state in
            guard state.loads < limit else { return false }
            if let origin {
                let own = state.origins[origin, default: 0]
                guard own < originLimit else { return false }
                state.origins[origin] = own + 1
            }
            state.loads += 1
            return true
        }
        // Changed rather than set: of two loads the later may tell first.
        if isAdmitted { length.increment() }
        return isAdmitted
    }

    func leave(_ origin: String?) {
        state.withLock { state in
            state.loads -= 1
            if let origin, let own = state.origins[origin] { state.origins[origin] = own > 1 ? own - 1 : nil }
        }
        length.decrement()
        memory.workEnded { [weak self] in self?.count == 0 }
    }
}
