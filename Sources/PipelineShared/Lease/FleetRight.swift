import Pipeline
import PipelineHTTP

/// A load's right to fetch or to make something on behalf of all machines.
///
/// The lease is renewed until the right ends. Loads of this machine that share the work share the right; the first of them
/// that claims it stores the outcome. If the last of them is gone, the lease ends, and waiters ask for themselves.
final class FleetRight: LoadAttachment {
    private enum Progress { case held, claimed, ended }

    let token: FleetLeaseToken
    private let leases: FleetLeases
    private let progress = Lock(Progress.held)
    private let renewal: Task<Void, Never>
    /// The response in the shared tier that the origin has confirmed, and its 304.
    private let confirmation = Lock<(stored: StoredResponse, update: HTTPExchange)?>(nil)

    init(_ token: FleetLeaseToken, _ leases: FleetLeases) {
        self.token = token
        self.leases = leases
        renewal = Task { await leases.renew(token) }
    }

    deinit {
        renewal.cancel()
        guard progress.withLock({ $0 != .ended }) else { return }
        let (leases, token) = (leases, token)
        Task { await leases.release(token, .notShared) }
    }

    /// Returns whether the caller is to store the outcome: true for the first that asks.
    func claim() -> Bool {
        progress.withLock { progress in
            defer { if progress == .held { progress = .claimed } }
            return progress == .held
        }
    }

    /// Ends the lease. A second call does nothing.
    /// - Parameter outcome: What waiters are told; `nil` if the commit has ended the lease.
    func end(_ outcome: LeaseOutcome?) async {
        let isFirst = progress.withLock { progress in
            defer { progress = .ended }
            return progress != .ended
        }
        guard isFirst else { return }
        renewal.cancel()
        if let outcome { await leases.release(token, outcome) }
    }

    /// Notes that the origin has confirmed a response of the shared tier.
    func confirm(_ stored: StoredResponse, by update: HTTPExchange) {
        confirmation.withLock { $0 = (stored, update) }
    }

    /// The response of the shared tier that the origin has confirmed.
    var confirmed: (stored: StoredResponse, update: HTTPExchange)? { confirmation.withLock(\.self) }
}
