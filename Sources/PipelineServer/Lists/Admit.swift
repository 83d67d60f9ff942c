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
        let tenant = load.request.partition
        guard queue.enter(origin, of: tenant) else {
            throw LoadError(
                .busy, subject: load.subject, "The server has as much work as it can take. Ask again in a second.",
                retryAfter: .seconds(1))
        }
        defer { queue.leave(origin, of: tenant) }
        try await body.run(&load)
        return .done
    }
}

/// Counts the loads that wait or work, of each tenant and of each origin too: one that is slow leaves room for the others.
final class WorkQueue: Sendable {
    private struct State {
        var loads = 0
        var tenants: [String: Int] = [:]
        var origins: [Origin: Int] = [:]
    }

    /// An origin of a tenant: what others ask of it takes nothing of the tenant's share.
    private struct Origin: Hashable {
        let tenant: String?
        let host: String
    }

    private let limit, originLimit: Int
    private let tenantLimits: [String: Int]
    private let state = Lock(State())

    private let length: Meter
    private let memory: FreedMemory

    /// - Parameters:
    ///   - limit: The most loads.
    ///   - originLimit: The most loads of one origin.
    ///   - tenantLimits: The most loads of each tenant.
    ///   - metrics: Gets the number of loads as `http_queue`.
    ///   - memory: Is told when a load ends.
    init(
        limit: Int, originLimit: Int, tenantLimits: [String: Int] = [:], metrics: any MetricsFactory,
        memory: FreedMemory
    ) {
        (self.limit, self.originLimit, self.tenantLimits) = (limit, originLimit, tenantLimits)
        self.memory = memory
        length = Meter(label: "http_queue", factory: metrics)
    }

    /// The number of loads now.
    var count: Int { state.withLock { $0.loads } }

    /// Counts a load; `false` if there are too many.
    /// - Parameters:
    ///   - host: The source's host; `nil` for a file.
    ///   - tenant: The tenant; `nil` for none.
    func enter(_ host: String?, of tenant: String? = nil) -> Bool {
        let origin = host.map { Origin(tenant: tenant, host: $0) }
        let isAdmitted = state.withLock { state in
            guard state.loads < limit,
                tenant.map({ state.tenants[$0, default: 0] < tenantLimits[$0] ?? limit }) ?? true,
                origin.map({ state.origins[$0, default: 0] < originLimit }) ?? true
            else { return false }
            if let tenant { state.tenants[tenant, default: 0] += 1 }
            if let origin { state.origins[origin, default: 0] += 1 }
            state.loads += 1
            return true
        }
        // Changed rather than set: of two loads the later may tell first.
        if isAdmitted { length.increment() }
        return isAdmitted
    }

    func leave(_ host: String?, of tenant: String? = nil) {
        let origin = host.map { Origin(tenant: tenant, host: $0) }
        state.withLock { state in
            state.loads -= 1
            if let tenant { state.tenants[tenant, default: 1] -= 1 }
            if let origin, let own = state.origins[origin] { state.origins[origin] = own > 1 ? own - 1 : nil }
        }
        length.decrement()
        memory.workEnded { [weak self] in self?.count == 0 }
    }
}
