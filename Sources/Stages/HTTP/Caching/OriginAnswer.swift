import FoundationEssentials
import HTTPTypes

/// An answer of the origin, with the times that its age is reckoned from (RFC 9111 section 4.2.3).
struct OriginAnswer {
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

    /// Whether it is one of those that something stale may stand in for (RFC 5861 section 4).
    var isServerError: Bool { [500, 502, 503, 504].contains(status) }

    /// What the cache is asked to store.
    func exchange(_ request: CachingRequest, _ headers: HTTPFields) -> HTTPExchange {
        HTTPExchange(
            url: request.url, method: request.method, requestHeaders: headers, status: status, headers: self.headers,
            requestTime: requestTime, responseTime: responseTime, body: body)
    }
}
