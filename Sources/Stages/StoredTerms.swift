import PipelineHTTP
import Essentials
import Pipeline

/// How long a product is valid that was made from a response, and what can invalidate it earlier.
struct StoredTerms {
    var validity: Validity
    /// The row that holds the response, if one does.
    var generation: Int64?
    /// The URLs that the response came from, each with the time since which an invalidation counts.
    var origins: [(target: String, since: Date)] = []
    /// When the origin was last asked; `nil` without an origin.
    var askedAt: Date?

    /// The terms of bytes that aren't an HTTP response.
    init(_ validity: Validity) { self.validity = validity }

    /// The terms of a stored response.
    init(_ stored: StoredResponse, _ policy: StoringPolicy) {
        self.init(of: stored, policy, since: stored.stored)
        generation = stored.generation
    }

    /// The terms of a response that the origin has just sent or confirmed, whether or not it is stored.
    init(of response: StoredResponse, _ policy: StoringPolicy, since: Date? = nil) {
        validity = policy.validity(of: response)
        askedAt = response.requestTime
        origins = response.targets.map { ($0, since ?? response.requestTime) }
    }

    /// The terms of the same product if it is reached through a redirect.
    func behind(_ redirect: StoredTerms) -> StoredTerms {
        var terms = self
        terms.validity = validity.behind(redirect.validity)
        terms.origins += redirect.origins
        terms.askedAt = [askedAt, redirect.askedAt].compactMap(\.self).max()
        return terms
    }
}
