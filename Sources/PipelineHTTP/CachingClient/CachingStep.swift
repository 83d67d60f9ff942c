package import Essentials
package import HTTPTypes
package import Pipeline

/// What happened to one request of ``CachingClient``: the answer to "why was this a miss?".
///
/// Nothing in it is redacted; redact it before it is shown.
package struct CachingStep: Sendable {
    /// The URL that was requested.
    package let url: URL
    /// The result of the lookup; `nil` if there was none.
    package internal(set) var lookup: CacheLookup?
    /// The decisions, in the order in which they were made.
    package internal(set) var notes: [String] = []
    /// The fields that were sent to the origin; `nil` if it was not asked before the response was returned.
    package internal(set) var sent: HTTPFields?
    /// The status of the origin's response.
    package internal(set) var status: Int?
    /// The fields of the origin's response.
    package internal(set) var received: HTTPFields?
    /// The entry that is stored now, with its freshness; `nil` if nothing was stored or changed.
    package internal(set) var stored: (response: StoredResponse, freshness: Freshness)?

    init(url: URL) { self.url = url }
}
