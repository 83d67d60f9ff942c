import Essentials
package import HTTPTypes
package import Pipeline

/// A response of the origin, with the times from which its age is calculated (RFC 9111 section 4.2.3).
struct OriginResponse {
    let status: Int
    let reason: String
    let headers: HTTPFields
    let interim: [TransferResponse.Interim]
    let requestTime: Date
    let responseTime: Date
    var body: [UInt8] = []

    init(_ response: TransferResponse, requestTime: Date, responseTime: Date) {
        status = response.status
        reason = response.reason
        headers = response.headers
        interim = response.interim
        self.requestTime = requestTime
        self.responseTime = responseTime
    }

    /// The exchange that the cache is asked to store.
    func exchange(_ request: CachingRequest, _ headers: HTTPFields) -> HTTPExchange {
        HTTPExchange(
            url: request.url, method: request.method, requestHeaders: headers, status: status, headers: self.headers,
            requestTime: requestTime, responseTime: responseTime, body: body)
    }
}

extension Int {
    /// Whether a response to GET with this status says that the stored response is no longer suitable (RFC 9111 section
    /// 4.3.3): every final status except server errors and those about the request's own condition or range.
    package var evictsStored: Bool { self >= 200 && self < 500 && ![206, 304, 412, 416].contains(self) }
}

extension HTTPExchange {
    /// The exchange from which a response was stored; `nil` if its URL can't be read.
    package init?(of stored: StoredResponse, for requestHeaders: HTTPFields) {
        guard let url = URL(string: stored.target) else { return nil }
        self.init(
            url: url, requestHeaders: requestHeaders, status: stored.status, headers: stored.headers,
            requestTime: stored.requestTime, responseTime: stored.responseTime, body: stored.body)
    }

    /// Whether it says that the stored response is no longer suitable, even if it must not be stored itself (RFC 9111
    /// section 4.3.3).
    package var replacesStored: Bool {
        method == .get && status.evictsStored && !CacheControl(requestHeaders).contains("no-store")
    }
}
