public import Essentials
package import Pipeline

/// Until when an image or a redirect is fresh, by each of the rules that may apply.
///
/// The reader chooses the rule, with its request's `Expiry` and the list's ``CacheRules``. So an entry holds the end
/// for every rule.
public struct Validity: Sendable, Hashable {
    /// When it was stored or last confirmed by the origin.
    package let storedAt: Date
    /// When the origin made or last confirmed it (RFC 9111 section 4.2.3): the caller's default lifetime counts from then.
    package let originatedAt: Date
    /// The end of freshness by the server's word (RFC 9111 section 4.2); `nil` where the server said nothing.
    package let serverUntil: Date?
    /// The end of freshness by HTTP's rules alone, heuristics included (RFC 9111 section 4.2.2).
    package let httpUntil: Date
    /// The end that `Expiry.after` fixed when it was stored; `nil` without one.
    package let fixedUntil: Date?
    /// The end of freshness of the redirects that led to it, by the server's word; `nil` without any.
    package let redirectsUntil: Date?
    /// Whether the server requires revalidation each time (`no-cache`, RFC 9111 section 5.2.2.4).
    package let alwaysRevalidates: Bool
    /// Whether it may be served stale if the origin can't be reached (RFC 9111 section 4.2.4).
    package let mayStandIn: Bool
    /// When the image or a redirect that led to it was stored or confirmed, whichever is last.
    private var lastStoredAt: Date

    /// Describes a validity.
    public init(
        storedAt: Date, originatedAt: Date? = nil, serverUntil: Date? = nil, httpUntil: Date? = nil,
        fixedUntil: Date? = nil, redirectsUntil: Date? = nil, alwaysRevalidates: Bool = false, mayStandIn: Bool = true
    ) {
        self.storedAt = storedAt
        self.originatedAt = originatedAt ?? storedAt
        self.serverUntil = serverUntil
        self.httpUntil = httpUntil ?? serverUntil ?? storedAt
        self.fixedUntil = fixedUntil
        self.redirectsUntil = redirectsUntil
        self.alwaysRevalidates = alwaysRevalidates
        self.mayStandIn = mayStandIn
        lastStoredAt = storedAt
    }

    /// Never stale: for a file's or a request's own bytes, whose key changes with them.
    package static let unlimited = Validity(
        storedAt: .distantFuture, serverUntil: .distantFuture, httpUntil: .distantFuture)

    /// Returns the validity that the reader's `expiry` gives an image without an HTTP response.
    package static func asRequested(_ expiry: Expiry, storedAt now: Date) -> Validity {
        switch expiry {
        case .server(let otherwise): Validity(storedAt: now, httpUntil: now + otherwise.seconds)
        case .after(let lifetime):
            Validity(storedAt: now, httpUntil: now + lifetime.seconds, fixedUntil: now + lifetime.seconds)
        case .never: Validity(storedAt: now, httpUntil: .distantFuture)
        }
    }

    /// Returns the validity of a response behind a redirect. It ends with the one that ends first.
    package func behind(_ redirect: Validity) -> Validity {
        // The caller's default is only for images.
        let end = redirect.alwaysRevalidates ? redirect.storedAt : redirect.serverUntil ?? redirect.httpUntil
        var chain = Validity(
            storedAt: min(storedAt, redirect.storedAt), originatedAt: originatedAt, serverUntil: serverUntil,
            httpUntil: httpUntil, fixedUntil: [fixedUntil, redirect.fixedUntil].compactMap(\.self).min(),
            redirectsUntil: min(redirectsUntil ?? end, end), alwaysRevalidates: alwaysRevalidates,
            mayStandIn: mayStandIn && redirect.mayStandIn)
        chain.lastStoredAt = max(lastStoredAt, redirect.lastStoredAt)
        return chain
    }

    /// When it becomes stale for a reader; `nil` if it never does.
    package func end(for expiry: Expiry, under rules: CacheRules) -> Date? {
        switch (rules, expiry) {
        case (.http, _): bounded(alwaysRevalidates ? storedAt : httpUntil)
        case (_, .never): nil
        case (_, .after(let duration)):
            // A reader may only shorten what the writer fixed.
            min(fixedUntil ?? .distantFuture, storedAt.addingTimeInterval(duration.seconds))
        case (_, .server(let otherwise)):
            min(
                fixedUntil ?? .distantFuture,
                bounded(
                    alwaysRevalidates
                        ? storedAt : serverUntil ?? originatedAt.addingTimeInterval(otherwise.seconds)))
        }
    }

    private func bounded(_ end: Date) -> Date { min(end, redirectsUntil ?? .distantFuture) }

    /// Whether any of it was stored in the future: the clock was set back, so its age is unknown.
    package func isFromFuture(at now: Date) -> Bool { lastStoredAt > now + 2 && lastStoredAt < .distantFuture }
}
