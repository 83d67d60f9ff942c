public import FoundationEssentials
public import Pipeline

/// Until when something is fresh, by each of those who may decide it.
///
/// The reader chooses who decides, with its request's `Expiry` and the list's ``CacheRules``; so the entry carries
/// what each of them would say.
public struct Validity: Sendable, Hashable {
    /// When it was stored or last confirmed by the origin.
    public let storedAt: Date
    /// The end of freshness by the server's word (RFC 9111 section 4.2); `nil` where the server said nothing.
    public let serverUntil: Date?
    /// The end of freshness by HTTP's rules alone, a guess included (RFC 9111 section 4.2.2).
    public let httpUntil: Date
    /// The end that `Expiry.after` fixed when it was stored; `nil` without one.
    public let fixedUntil: Date?
    /// Whether the server asks to be asked each time (`no-cache`, RFC 9111 section 5.2.2.4).
    public let alwaysRevalidates: Bool
    /// Whether it may be given past its freshness where the origin can't be reached (RFC 9111 section 4.2.4).
    public let mayStandIn: Bool

    /// Describes a validity.
    public init(
        storedAt: Date, serverUntil: Date? = nil, httpUntil: Date? = nil, fixedUntil: Date? = nil,
        alwaysRevalidates: Bool = false, mayStandIn: Bool = true
    ) {
        self.storedAt = storedAt
        self.serverUntil = serverUntil
        self.httpUntil = httpUntil ?? serverUntil ?? storedAt
        self.fixedUntil = fixedUntil
        self.alwaysRevalidates = alwaysRevalidates
        self.mayStandIn = mayStandIn
    }

    /// What never goes stale: a file's or a request's own bytes, whose key changes with them.
    public static let unlimited = Validity(
        storedAt: .distantFuture, serverUntil: .distantFuture, httpUntil: .distantFuture)

    /// Since when it is stale for a reader; `nil` where it never will be.
    public func end(for expiry: Expiry, under rules: CacheRules) -> Date? {
        switch (rules, expiry) {
        case (.http, _): alwaysRevalidates ? storedAt : httpUntil
        case (.asRequested, .never): nil
        case (.asRequested, .after(let duration)):
            // A reader may only shorten what the writer fixed.
            min(fixedUntil ?? .distantFuture, storedAt.addingTimeInterval(duration.seconds))
        case (.asRequested, .server(let otherwise)):
            if let fixedUntil {
                fixedUntil
            } else if alwaysRevalidates {
                storedAt
            } else {
                serverUntil ?? storedAt.addingTimeInterval(otherwise.seconds)
            }
        }
    }
}
