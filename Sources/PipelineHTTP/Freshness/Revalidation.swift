package import FoundationEssentials
package import HTTPTypes
import Pipeline

/// A 304 that `Fetch` left for `Store`, which makes the stored response fresh with it (RFC 9111 section 4.3.4).
package struct Revalidation: LoadAttachment {
    package let stored: StoredResponse
    let headers: HTTPFields
    let requestHeaders: HTTPFields
    let requestTime: Date
    let responseTime: Date
    /// The redirects that now belong to the entry; `nil` for the same as before.
    var within: [HTTPExchange]?

    package init(
        stored: StoredResponse, headers: HTTPFields, requestHeaders: HTTPFields, requestTime: Date, responseTime: Date,
        within: [HTTPExchange]? = nil
    ) {
        self.stored = stored
        self.headers = headers
        self.requestHeaders = requestHeaders
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.within = within
    }
}
