import FoundationEssentials

/// How long a product holds that was made of a response, and what could make it invalid before.
struct StoredTerms {
    let validity: Validity
    /// The row that holds the response, if one does.
    let generation: Int64?
    /// The URL that it came from; `nil` for what came from none.
    let target: String?
    /// When the origin was asked for it, or it was stored: it is older than any invalidation after that.
    let askedAt: Date

    /// Of a stored response.
    init(_ validity: Validity, of entry: StoredResponse, askedAt: Date? = nil) {
        self.init(validity, entry.generation, entry.target, askedAt ?? entry.stored)
    }

    /// Of a response that was just fetched.
    init(_ validity: Validity, of exchange: HTTPExchange, stored: StoredResponse?) {
        self.init(validity, stored?.generation, exchange.url.targetText, exchange.requestTime)
    }

    /// Of what is no response.
    init(_ validity: Validity) { self.init(validity, nil, nil, .distantFuture) }

    private init(_ validity: Validity, _ generation: Int64?, _ target: String?, _ askedAt: Date) {
        self.validity = validity
        self.generation = generation
        self.target = target
        self.askedAt = askedAt
    }
}
