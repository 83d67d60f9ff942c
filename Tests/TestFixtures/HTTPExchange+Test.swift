package import Essentials
package import HTTPTypes
package import Pipeline
package import PipelineHTTP
import Testing

extension HTTPExchange {
    /// An exchange that took no time.
    package static func test(
        _ url: String = "http://example.com/a.jpg", method: HTTPRequest.Method = .get, request: HTTPFields = [:],
        status: Int = 200, _ headers: HTTPFields = [.cacheControl: "max-age=60"], body: [UInt8] = Array("body".utf8),
        at time: Date
    ) throws -> HTTPExchange {
        HTTPExchange(
            url: try #require(URL(string: url)), method: method, requestHeaders: request, status: status,
            headers: headers, requestTime: time, responseTime: time, body: body)
    }
}

extension HTTPCache {
    /// Brings a stored response up to date with the fields of a 304.
    package func freshen(
        _ stored: StoredResponse, with fields: HTTPFields, requestHeaders: HTTPFields = [:], requestTime: Date,
        responseTime: Date, expiry: Expiry = .standard
    ) async throws -> StoredResponse? {
        var update = try HTTPExchange.test(request: requestHeaders, status: 304, fields, body: [], at: requestTime)
        update.responseTime = responseTime
        return await freshen(stored, by: update, expiry: expiry)
    }
}

extension SourceKey {
    /// The key of a text.
    package static func test(_ text: String = "a") -> SourceKey { SourceKey(digest: BLAKE2bDigest(of: text)) }
}

extension VariantKey {
    /// The key of what a list made of a source.
    package static func test(of source: SourceKey, list: String = "list") throws -> VariantKey {
        let request = ImageRequest(try #require(URL(string: "http://example.com/a.jpg")))
        return VariantKey(source: source, request: request, list: BLAKE2bDigest(of: list))
    }
}

extension CacheLookup {
    package var response: StoredResponse? {
        switch self {
        case .fresh(let response, _), .stale(let response, _): response
        case .miss: nil
        }
    }

    package var freshness: Freshness? {
        switch self {
        case .fresh(_, let freshness), .stale(_, let freshness): freshness
        case .miss: nil
        }
    }

    package var isFresh: Bool { if case .fresh = self { true } else { false } }
    package var isStale: Bool { if case .stale = self { true } else { false } }
    package var isMiss: Bool { if case .miss = self { true } else { false } }
}
