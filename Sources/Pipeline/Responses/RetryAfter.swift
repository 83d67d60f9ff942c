package import Essentials
package import HTTPTypes

/// The `Retry-After` field: when an origin wants the next request (RFC 9110 section 10.2.3).
package enum RetryAfter {
    /// The time to wait from `now`, given in seconds or as a date; zero for a date that has passed, `nil` without a
    /// field that can be read.
    package static func delay(in headers: HTTPFields, now: Date) -> Duration? {
        guard let text = headers[values: .retryAfter].first else { return nil }
        if let seconds = deltaSeconds(text.utf8) { return .seconds(seconds) }
        return HTTPDate.parse(text, now: now).map { .seconds(clamping: max(0, $0.timeIntervalSince(now))) }
    }
}
