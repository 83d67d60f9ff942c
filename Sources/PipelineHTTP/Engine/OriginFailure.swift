import HTTPTypes
package import Pipeline

/// An origin's failure for which a stale response may stand in.
package enum OriginFailure: Sendable, Hashable {
    /// It can't be reached, or takes too long.
    case unreachable
    /// It responded with an error status.
    case status(Int)

    init(status: Int) { self = .status(status) }

    /// Whether the server says that it failed (RFC 9110 section 15.6).
    package var isServers: Bool { if case .status(500..<600) = self { true } else { false } }

    /// - Returns: `nil` for an error for which nothing may stand in.
    package init?(_ error: LoadError) {
        switch error.code {
        case .unreachable, .timedOut: self = .unreachable
        case .httpStatus:
            guard let status = error.httpStatus else { return nil }
            self = .status(status)
        default: return nil
        }
    }
}

extension Freshness {
    /// Whether a stale response may stand in for an origin that failed: if it can't be reached, unless a directive
    /// forbids it (RFC 9111 section 4.2.4); for 500, 502, 503 and 504 if `stale-if-error` allows it (RFC 5861 section
    /// 4); for any 5xx if the caller allows it and no directive forbids it.
    /// - Parameter time: how long after the end of freshness the caller allows it.
    package func mayStandIn(for failure: OriginFailure, within time: Duration? = nil) -> Bool {
        switch failure {
        case .unreachable: return mayBeServedWhenUnreachable || mayBeServedOnError
        case .status(let status):
            if mayBeServedOnError, [500, 502, 503, 504].contains(status) { return true }
            guard let time, failure.isServers, mayBeServedWhenUnreachable else { return false }
            return remaining.map { .zero - $0 < time } ?? true
        }
    }

    /// The same, which may not be served under any circumstances.
    package var refused: Freshness {
        Freshness(
            age: age, lifetime: lifetime, basis: basis, remaining: remaining, verdict: verdict, judged: judged,
            mayBeServedWhileRevalidating: false, mayBeServedOnError: false, mayBeServedWhenUnreachable: false,
            isRefused: true)
    }
}
