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
    private let state = Mutex(State())

    /// - Parameters:
    ///   - limit: The most loads.
    ///   - originLimit: The most loads of one origin.
    init(limit: Int, originLimit: Int) { (self.limit, self.originLimit) = (limit, originLimit) }

    /// The number of loads now.
    var count: Int { state.withLock { $0.loads } }

    /// Counts a load; `false` if there are too many.
    /// - Parameter origin: The source's host; `nil` for a file.
    func enter(_ origin: String?) -> Bool {
        state.withLock { state in
            guard state.loads < limit else { return false }
            if let origin {
                let own = state.origins[origin, default: 0]
                guard own < originLimit else { return false }
                state.origins[origin] = own + 1
            }
            state.loads += 1
            return true
        }
    }

    func leave(_ origin: String?) {
        state.withLock { state in
            state.loads -= 1
            guard let origin, let own = state.origins[origin] else { return }
            state.origins[origin] = own > 1 ? own - 1 : nil
        }
    }
}
