public import Pipeline

/// The stored answer that a load's `Load.stale` bytes came from: `Fetch` asks the origin whether it still holds.
public struct StaleEntry: LoadAttachment {
    /// The answer.
    public let response: StoredResponse
    /// What it was judged by, and when it may be given all the same.
    public let freshness: Freshness

    /// Attaches an answer.
    public init(response: StoredResponse, freshness: Freshness) {
        self.response = response
        self.freshness = freshness
    }
}
