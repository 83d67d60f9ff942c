import Essentials
import HTTPTypes
import Pipeline

extension HTTPExchange {
    /// An exchange that took no time, with a body of `body` bytes.
    static func test(status: Int = 200, body: Int = 3) -> HTTPExchange {
        HTTPExchange(
            url: URL(filePath: "/cat.jpg"), status: status, headers: [.contentType: "image/jpeg"],
            requestTime: .distantPast, responseTime: .distantPast, body: Array(repeating: 7, count: body))
    }
}

extension StoredResponse {
    /// A response with a body of `body` bytes.
    static func test(_ generation: Int64 = 1, tag: String? = nil, body: Int = 5) -> StoredResponse {
        var headers: HTTPFields = [:]
        headers[.eTag] = tag
        return StoredResponse(
            generation: generation, key: SourceKey(digest: BLAKE2bDigest(of: "cat")),
            target: "https://example.com/cat.jpg",
            status: 200, headers: headers, requestTime: .distantPast, responseTime: .distantPast, stored: .distantPast,
            expires: nil, body: Array(repeating: 9, count: body), selecting: .none)
    }
}

extension Freshness {
    /// What became stale a second ago.
    static let expired = Freshness(
        age: .seconds(61), lifetime: .seconds(60), basis: .maxAge, remaining: .seconds(-1), verdict: .expired,
        judged: .distantPast, mayBeServedWhileRevalidating: false, mayBeServedOnError: false,
        mayBeServedWhenUnreachable: true)
}
