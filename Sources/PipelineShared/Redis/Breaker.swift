/// Decides whether a server that fails is asked: a pure state machine over uptimes in nanoseconds.
///
/// It opens after some failures in a row. While it is open, nothing is sent. When its pause is over, it is half-open:
/// one probe is sent. A reply closes it, a failure doubles the pause.
struct Breaker: Sendable, Hashable {
    /// How many time-outs in a row open it.
    static let patience = 3
    static let firstPause: Int64 = 500_000_000
    static let longestPause: Int64 = 2_000_000_000

    private var failures = 0
    private var pause = Self.firstPause
    /// When to probe; `nil` while it is closed.
    private(set) var probesAt: Int64?

    /// Whether requests are refused.
    var isOpen: Bool { probesAt != nil }

    /// Whether a probe is due.
    func isHalfOpen(at now: Int64) -> Bool { probesAt.map { $0 <= now } ?? false }

    /// Notes a reply.
    /// - Returns: Whether it has closed the breaker.
    mutating func succeed() -> Bool {
        defer { self = Breaker() }
        return isOpen
    }

    /// Notes a failure. While it is open, only that of a probe counts: requests that were sent before may fail late, and
    /// many at a time.
    /// - Parameter isFinal: Whether no connection is left, so that one failure is enough.
    /// - Returns: Whether it has opened the breaker.
    mutating func fail(at now: Int64, isFinal: Bool) -> Bool {
        failures += 1
        let wasOpen = isOpen
        guard !wasOpen || isHalfOpen(at: now) else { return false }
        guard wasOpen || isFinal || failures >= Self.patience else { return false }
        if wasOpen { pause = min(pause * 2, Self.longestPause) }
        probesAt = now + pause
        return !wasOpen
    }
}
