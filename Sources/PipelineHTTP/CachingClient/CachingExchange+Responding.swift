import Essentials
import HTTPTypes
import Pipeline

/// Responses made from a stored one (RFC 9111 section 4).
extension CachingExchange {
    /// Makes the response to this request from a stored one: whole, without content, a part of it, or 304.
    /// - Parameter freshness: its freshness, for the `Age`; `nil` if the origin has just confirmed it.
    /// - Returns: the response; `nil` if the cache doesn't support the request's range.
    func response(of stored: StoredResponse, _ use: CacheUse, _ freshness: Freshness?) -> CachingResponse? {
        var headers = stored.headers
        if let freshness { headers[.age] = String(freshness.ageField) }
        if Preconditions.holdBack(stored, for: self.headers, now: now) {
            return respond(304, Self.withoutContent(headers), [], use)
        }
        guard request.method == .get, stored.status == 200 else {
            return respond(stored.status, headers, request.method == .head ? [] : stored.body, use)
        }
        switch ByteRange(self.headers, of: stored.headers, count: stored.body.count) {
        // A server may ignore a range (RFC 9110 section 14.2).
        case .unknown where !isOnlyIfCached: return nil
        case .whole, .unknown: return respond(200, headers, stored.body, use)
        case .part(let range):
            headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(stored.body.count)"
            headers[.contentLength] = String(range.count)
            return respond(206, headers, Array(stored.body[range]), use)
        case .unsatisfiable:
            return respond(416, [.contentRange: "bytes */\(stored.body.count)", .contentLength: "0"], [], use)
        }
    }

    private var isOnlyIfCached: Bool {
        request.mode == .onlyIfCached || CacheControl(headers).contains("only-if-cached")
    }

    /// RFC 9111 section 5.2.1.7.
    var gatewayTimeout: CachingResponse { respond(504, [.contentLength: "0"], [], .miss) }

    /// Returns a response with the steps so far.
    func withSteps(_ response: CachingResponse) -> CachingResponse {
        var response = response
        response.steps = [step]
        return response
    }

    private func respond(_ status: Int, _ headers: HTTPFields, _ body: [UInt8], _ use: CacheUse) -> CachingResponse {
        CachingResponse(
            status: status, reason: reasonPhrase(status), headers: headers, body: body,
            url: request.url, interim: [], use: use, steps: [step])
    }

    /// The fields that a 304 keeps (RFC 9110 section 15.4.5).
    private static func withoutContent(_ headers: HTTPFields) -> HTTPFields {
        let kept: Set<HTTPField.Name> = [
            .age, .cacheControl, .contentLocation, .date, .eTag, .expires, .lastModified, .vary,
        ]
        return headers.filtered { kept.contains($0.name) }
    }
}
