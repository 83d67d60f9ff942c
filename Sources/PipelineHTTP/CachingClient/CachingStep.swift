package import FoundationEssentials
package import HTTPTypes
package import Pipeline

/// What happened to one request of ``CachingClient``: the answer to "why was this a miss?".
///
/// It holds everything as it was; redact it before it is shown.
package struct CachingStep: Sendable {
    /// The URL that was asked for.
    package let url: URL
    /// What the cache had; `nil` if it was not asked.
    package internal(set) var lookup: CacheLookup?
    /// What was decided, in the order in which it was.
    package internal(set) var notes: [String] = []
    /// The fields that were sent to the origin; `nil` if it was not asked before the response was given.
    package internal(set) var sent: HTTPFields?
    /// The status that the origin answered with.
    package internal(set) var status: Int?
    /// The fields that the origin answered with.
    package internal(set) var received: HTTPFields?
    /// The entry that is stored now, with what it is judged by; `nil` if nothing was stored or changed.
    package internal(set) var stored: (response: StoredResponse, freshness: Freshness)?

    init(url: URL) { self.url = url }
}
