import Essentials
import HTTPTypes
import Pipeline

/// How long a stored response is fresh, and by which rule (RFC 9111 section 4.2.1).
struct Lifetime {
    /// `nil` if forever.
    let duration: Duration?
    let basis: Freshness.Basis
    /// When it ends, if that was fixed in absolute time.
    private let fixedEnd: Date?

    /// - Parameter usesHeuristic: whether a heuristic lifetime is used instead of the caller's default.
    init(
        of stored: StoredResponse, _ control: CacheControl, now: Date, expiry: Expiry, usesHeuristic: Bool,
        isShared: Bool
    ) {
        switch expiry {
        // The caller decides for images and the redirects that lead to them; errors follow the origin's rules.
        case .never where stored.mayLeadToPicture: self.init(nil, .never)
        case .after(let wanted) where stored.mayLeadToPicture:
            let end = min(stored.expires ?? .distantFuture, stored.stored + wanted.clamped.seconds)
            self.init(.seconds(clamping: end.timeIntervalSince(stored.stored)), .fixed, fixedEnd: end)
        case .never, .after, .server:
            var (duration, basis) = Self.server(stored, control, now: now, isShared: isShared)
            if basis == .none, stored.status.isHeuristicallyCacheable || control.contains("public") {
                // The caller's default is for images: a 404 shouldn't last a day.
                if case .server(let otherwise) = expiry, !usesHeuristic, stored.isSuccess {
                    (duration, basis) = (otherwise.clamped, .caller)
                } else if let guess = Self.heuristic(stored, now: now) {
                    (duration, basis) = (guess, .heuristic)
                }
            }
            let ends = [usesHeuristic ? nil : stored.expires, stored.redirects?.until].compactMap(\.self)
            self.init(duration, basis, fixedEnd: ends.min())
        }
    }

    private init(_ duration: Duration?, _ basis: Freshness.Basis, fixedEnd: Date? = nil) {
        self.duration = duration
        self.basis = basis
        self.fixedEnd = fixedEnd
    }

    /// How much of it is left; negative past its end, `nil` if forever.
    func end(age: Duration, now: Date) -> Duration? {
        guard let duration else { return nil }
        guard let fixedEnd else { return duration - age }
        let untilFixedEnd = Duration.seconds(clamping: fixedEnd.timeIntervalSince(now))
        return basis == .fixed ? untilFixedEnd : min(untilFixedEnd, duration - age)
    }

    private static func server(
        _ stored: StoredResponse, _ control: CacheControl, now: Date, isShared: Bool
    ) -> (Duration, Freshness.Basis) {
        // An unreadable lifetime counts as expired, not as missing: section 4.2.1 calls such a response stale.
        if isShared, control.contains("s-maxage") { return (.seconds(control.seconds("s-maxage") ?? 0), .sharedMaxAge) }
        if control.contains("max-age") { return (.seconds(control.seconds("max-age") ?? 0), .maxAge) }
        if !control.isTargeted, stored.headers.contains(.expires) {
            guard let expires = stored.headers.date(.expires, now: now) else { return (.zero, .expires) }
            let date = stored.headers.date(.date, now: now) ?? stored.responseTime
            return (.seconds(clamping: max(0, expires.timeIntervalSince(date))), .expires)
        }
        return (.zero, .none)
    }

    private static func heuristic(_ stored: StoredResponse, now: Date) -> Duration? {
        guard let modified = stored.headers.date(.lastModified, now: now) else { return nil }
        let date = stored.headers.date(.date, now: now) ?? stored.responseTime
        return .seconds(clamping: max(0, date.timeIntervalSince(modified)) / 10)
    }
}

extension StoredResponse {
    /// Whether the status is 2xx.
    package var isSuccess: Bool { (200...299).contains(status) }

    /// Whether the caller may decide how long it is fresh.
    var mayLeadToPicture: Bool { isSuccess || status.isRedirect }
}

extension Int {
    /// Whether a response with this status may be reused without explicit freshness (RFC 9110 section 15.1).
    var isHeuristicallyCacheable: Bool {
        [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501].contains(self)
    }
}
