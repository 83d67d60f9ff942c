public import Essentials

/// Whether a stored response may be served now, with the calculation behind it (RFC 9111 section 4.2).
public struct Freshness: Sendable, Hashable {
    /// The verdict.
    public enum Verdict: String, Sendable, Hashable {
        /// It is younger than its lifetime.
        case fresh
        /// It is past its lifetime, but not by more than the request accepts (`max-stale`, section 5.2.1.2).
        case acceptedStale = "stale, but accepted by the request's max-stale"
        /// It is past its lifetime.
        case expired
        /// The origin wants it confirmed each time (`no-cache`, section 5.2.2.4).
        case noCache = "the response says no-cache"
        /// The request wants it confirmed (`no-cache`, section 5.2.1.4).
        case requestNoCache = "the request says no-cache"
        /// It is older than the request accepts (`max-age`, section 5.2.1.1).
        case requestMaxAge = "older than the request's max-age"
        /// It won't be fresh for as long as the request wants (`min-fresh`, section 5.2.1.3).
        case requestMinFresh = "not fresh for as long as the request's min-fresh"
        /// It was stored in the future: the clock was set back, so its age is unknown.
        case clockSetBack = "stored in the future: the clock was set back"
        /// It may have been removed by another machine, from which this one hasn't heard.
        case uncertain = "it may have been removed meanwhile"
    }

    /// Where the lifetime came from.
    package enum Basis: String, Sendable, Hashable {
        /// `s-maxage`, in a shared cache (section 5.2.2.10).
        case sharedMaxAge = "s-maxage"
        /// `max-age` (section 5.2.2.1).
        case maxAge = "max-age"
        /// `Expires` (section 5.3).
        case expires = "Expires"
        /// A tenth of the time since `Last-Modified` (section 4.2.2).
        case heuristic = "a tenth of the age at Last-Modified"
        /// `Expiry.server(otherwise:)`: the caller's, where the origin gives none.
        case caller = "the caller's default"
        /// `Expiry.after`: fixed by the caller.
        case fixed = "expireAfter"
        /// `Expiry.never`.
        case never = "expiry never"
        /// The origin gives none, and none can be guessed.
        case none = "no lifetime given"
    }

    /// The time since the origin made or confirmed it (`current_age`, section 4.2.3).
    public let age: Duration
    /// How long it is fresh; `nil` if forever.
    public let lifetime: Duration?
    /// Where the lifetime came from.
    package let basis: Basis
    /// How much longer it is fresh; negative if it is stale, by how long it has been; `nil` if forever.
    package let remaining: Duration?
    /// The verdict.
    public let verdict: Verdict
    /// The moment at which it was judged.
    package let judged: Date

    /// Whether it may be served now while it is revalidated in the background (`stale-while-revalidate`, RFC 5861
    /// section 3).
    public let mayBeServedWhileRevalidating: Bool
    /// Whether it may be served if the origin responds with 500, 502, 503 or 504 (`stale-if-error`, RFC 5861 section
    /// 4).
    public let mayBeServedOnError: Bool
    /// Whether it may be served if the origin can't be reached (section 4.2.4): nothing forbids it.
    public let mayBeServedWhenUnreachable: Bool
    /// Whether the origin has said that it has another response.
    package let isRefused: Bool

    package init(
        age: Duration, lifetime: Duration?, basis: Basis, remaining: Duration?, verdict: Verdict, judged: Date,
        mayBeServedWhileRevalidating: Bool, mayBeServedOnError: Bool, mayBeServedWhenUnreachable: Bool,
        isRefused: Bool = false
    ) {
        self.age = age
        self.lifetime = lifetime
        self.basis = basis
        self.remaining = remaining
        self.verdict = verdict
        self.judged = judged
        self.mayBeServedWhileRevalidating = mayBeServedWhileRevalidating
        self.mayBeServedOnError = mayBeServedOnError
        self.mayBeServedWhenUnreachable = mayBeServedWhenUnreachable
        self.isRefused = isRefused
    }

    /// Whether it may be served without asking the origin.
    package var mayBeServed: Bool { verdict == .fresh || verdict == .acceptedStale }

    /// When it stops being fresh; `nil` for never.
    public var freshUntil: Date? { remaining.map { judged + $0.seconds } }

    /// The `Age` in seconds that a response made from it has to carry (section 5.1).
    package var ageField: Int { min(max(Int(clamping: age.seconds), 0), 1 << 31) }
}

extension Freshness: CustomStringConvertible {
    /// The calculation in one line, such as `expired 40 s ago: age 100 s, lifetime 60 s (max-age)`.
    public var description: String {
        let sum =
            "age \(age.wholeSeconds) s, "
            + (lifetime.map { "lifetime \($0.wholeSeconds) s (\(basis.rawValue))" } ?? "no end (\(basis.rawValue))")
        guard let remaining else { return "\(verdict.rawValue): \(sum)" }
        return switch verdict {
        case .fresh: "fresh for \(remaining.wholeSeconds) s: \(sum)"
        case .expired: "expired \((.zero - remaining).secondsAgo): \(sum)"
        default: "\(verdict.rawValue): \(sum)"
        }
    }
}

extension Duration {
    /// This duration in seconds. Both halves are converted separately: a memory hit has no time for the division that
    /// `components` does.
    package var seconds: Double {
        let high = Int64(truncatingIfNeeded: attoseconds >> 64)
        let low = UInt64(truncatingIfNeeded: attoseconds)
        return (Double(high) * 18_446_744_073_709_551_616 + Double(low)) / 1e18
    }

    /// Such as `40 s ago`, or `just now` within the first second.
    var secondsAgo: String { wholeSeconds < 1 ? "just now" : "\(wholeSeconds) s ago" }

    var wholeSeconds: Int { Int(clamping: seconds) }
}
