import Essentials
import HTTPTypes
import Pipeline
import TestFixtures

@testable import PipelineHTTP

/// A suite that judges answers made up for the purpose.
protocol FreshnessSuite {}

extension FreshnessSuite {
    /// Sun, 01 Mar 2026 12:00:00 GMT: when the response came.
    var arrival: Date { Date(timeIntervalSince1970: 1_772_366_400) }

    /// Judges a response a while after it came. `Date`, `Expires` and `Last-Modified` are given in seconds from then.
    func judge(
        _ control: String? = nil, after seconds: Double = 10, date: Double? = nil, expires: Double? = nil,
        modified: Double? = nil, age: [String] = [], more: HTTPFields = [:], status: Int = 200, delay: Double = 0,
        request: HTTPFields = [:], expiry: Expiry = .server(otherwise: .zero), rules: CacheRules = .http,
        fixed: Double? = nil, isShared: Bool = false
    ) throws -> Freshness {
        var headers = more
        if let control { headers[.cacheControl] = control }
        if let date { headers[.date] = HTTPDate.format(arrival + date) }
        if let expires { headers[.expires] = HTTPDate.format(arrival + expires) }
        if let modified { headers[.lastModified] = HTTPDate.format(arrival + modified) }
        for line in age { headers.append(HTTPField(name: .age, value: line)) }
        let stored = StoredResponse(
            generation: 1, key: .test(), target: "http://example.com/", status: status, headers: headers,
            requestTime: arrival - delay, responseTime: arrival, stored: arrival, expires: fixed.map { arrival + $0 },
            body: [], selecting: .none)
        return Freshness(
            of: stored, for: request, now: arrival + seconds, expiry: expiry, rules: rules, isShared: isShared)
    }
}
