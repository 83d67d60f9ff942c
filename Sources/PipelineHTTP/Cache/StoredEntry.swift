public import Pipeline

/// The stored answer that a load's original came from: `Store` learns from it when the result stops being fresh, and it
/// is evicted if its bytes turn out to be no image.
public struct StoredEntry: LoadAttachment {
    /// The answer.
    public let response: StoredResponse
    /// What it was judged by.
    public let freshness: Freshness

    /// Attaches an answer.
    public init(response: StoredResponse, freshness: Freshness) {
        self.response = response
        self.freshness = freshness
    }
}
