import FoundationEssentials
import HTTPTypes
import Pipeline
import Testing

@testable import Stages

@Suite("Freshness (RFC 9111 section 4.2, RFC 5861, RFC 8246)")
struct FreshnessTests {
    /// Sun, 01 Mar 2026 12:00:00 GMT: when the answer came.
    let arrival = Date(timeIntervalSince1970: 1_772_366_400)

    /// Judges an answer a while after it came. `Date`, `Expires` and `Last-Modified` are given in seconds from then.
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

    // MARK: Lifetime

    @Test("4.2.1: max-age is the lifetime; at its very end the answer is stale")
    func maxAge() throws {
        #expect(try judge("max-age=60", after: 59.9).verdict == .fresh)
        #expect(try judge("max-age=60", after: 60).verdict == .expired)
        #expect(try judge("max-age=0", after: 0).verdict == .expired)
        #expect(try judge("max-age=60").lifetime == .seconds(60))
        #expect(try judge("max-age=60").basis == .maxAge)
        #expect(try judge("max-age=60").freshUntil == arrival + 60)
    }

    @Test("5.2.2.1: max-age overrules Expires, whatever that says")
    func maxAgeOverrulesExpires() throws {
        #expect(try judge("max-age=3600", date: 0, expires: -7200).verdict == .fresh)
        #expect(try judge("max-age=3600", date: 0, more: [.expires: "0"]).verdict == .fresh)
        #expect(try judge("max-age=0", date: 0, expires: 3600).verdict == .expired)
    }

    @Test("4.2.1: a max-age that can't be read is stale, not missing", arguments: ["x", "-1", "'60'", "1.5", ""])
    func unreadableMaxAge(value: String) throws {
        let judged = try judge("max-age=\(value)", date: 0, expires: 3600, modified: -100_000)
        #expect(judged.verdict == .expired)
        #expect(judged.basis == .maxAge)
    }

    @Test("5.2.2.10: s-maxage counts in a shared cache only")
    func sharedMaxAge() throws {
        #expect(try judge("s-maxage=3600, max-age=1").verdict == .expired)
        #expect(try judge("s-maxage=3600, max-age=1", isShared: true).verdict == .fresh)
        #expect(try judge("s-maxage=3600, max-age=1", isShared: true).basis == .sharedMaxAge)
        #expect(try judge("s-maxage=1, max-age=3600", isShared: true).verdict == .expired)
    }

    @Test("5.3: Expires counts from Date, or from the arrival without one")
    func expires() throws {
        #expect(try judge(date: 0, expires: 60, more: [:]).verdict == .fresh)
        #expect(try judge(date: 0, expires: 60).lifetime == .seconds(60))
        #expect(try judge(after: 5, date: 100, expires: 110).verdict == .fresh)
        #expect(try judge(date: 400, expires: 300).verdict == .expired)
        #expect(try judge(date: 0, expires: 0, modified: -100_000).verdict == .expired)
        #expect(try judge(expires: 60).lifetime == .seconds(60))
        #expect(try judge(expires: 60, more: [.date: "foo"]).verdict == .fresh)
    }

    @Test(
        "5.3: an Expires that is no date is in the past", arguments: ["0", "-1", "Thu, 18 Aug 2050 02:01:18 UTC", ""])
    func invalidExpires(value: String) throws {
        let judged = try judge(date: 0, modified: -100_000, more: [.expires: value])
        #expect(judged.verdict == .expired)
        #expect(judged.basis == .expires)
    }

    @Test(
        "4.2.2: a tenth of the time since Last-Modified, for the statuses that allow it",
        arguments: [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501])
    func heuristic(status: Int) throws {
        #expect(try judge(after: 99, date: 0, modified: -1000, status: status).verdict == .fresh)
        #expect(try judge(after: 100, date: 0, modified: -1000, status: status).verdict == .expired)
        #expect(try judge(date: 0, modified: -1000, status: status).basis == .heuristic)
    }

    @Test(
        "4.2.2: no guess for other statuses, unless the response is public",
        arguments: [201, 202, 302, 307, 400, 403, 500, 502, 503, 504, 599])
    func noHeuristic(status: Int) throws {
        #expect(try judge(date: 0, modified: -100_000, status: status).verdict == .expired)
        #expect(try judge("public", date: 0, modified: -100_000, status: status).verdict == .fresh)
    }

    @Test("4.2.2: without Last-Modified there is nothing to guess from")
    func noLastModified() throws {
        #expect(try judge(after: 0, date: 0).verdict == .expired)
        #expect(try judge(after: 0, date: 0).basis == .none)
        #expect(try judge(after: 0, date: 0, modified: 100).verdict == .expired)
    }

    // MARK: Age

    @Test("4.2.3: an older Date makes an answer older")
    func apparentAge() throws {
        #expect(try judge("max-age=3600", date: -7200).verdict == .expired)
        #expect(try judge("max-age=3600", after: 10, date: -100).age == .seconds(110))
        #expect(try judge("max-age=3600", after: 10, date: 100).age == .seconds(10))
    }

    @Test("4.2.3: Age, the time that the answer took, and the time since then add up")
    func correctedAge() throws {
        #expect(try judge(after: 10, date: 0, age: ["30"], delay: 5).age == .seconds(45))
        #expect(try judge(after: 10, date: -100, age: ["30"], delay: 5).age == .seconds(110))
        #expect(try judge("max-age=3600", age: ["7200"]).verdict == .expired)
        #expect(try judge(after: 0, date: -10, expires: 10, age: ["25"]).verdict == .expired)
        #expect(try judge(after: 0, date: 10, expires: 20, age: ["15"]).verdict == .expired)
        #expect(try judge(after: 10.7, age: ["30"]).ageField == 40)
    }

    @Test(
        "5.1: of Age the first member counts; what is no number is ignored; overflow is clamped",
        arguments: [
            (["7200, 0"], 7200), (["0, 7200"], 0), (["7200", "0"], 7200), (["0", "7200"], 0), (["abc"], 0),
            (["-7200"], 0),
            (["7200.0"], 0), (["7200;foo=bar"], 0), (["2147483647"], 2_147_483_647), (["2147483648"], 2_147_483_648),
            (["99999999999999999999"], 2_147_483_648), ([" 5 "], 5), ([""], 0),
        ] as [([String], Int)])
    func ageField(lines: [String], seconds: Int) throws {
        #expect(try judge(after: 0, age: lines).age == .seconds(seconds))
    }

    @Test("An answer from the future is stale: the clock was set back")
    func clockSetBack() throws {
        #expect(try judge("max-age=60", after: -3600).verdict == .clockSetBack)
        #expect(try judge("max-age=60", after: -1).verdict == .fresh)
        #expect(try !judge("max-age=60", after: -3600).mayBeServedWhenUnreachable)
        #expect(
            try judge(after: -3600, expiry: .after(.seconds(60)), rules: .asRequested, fixed: 60).verdict
                == .clockSetBack)
        #expect(try judge(after: -3600, expiry: .never, rules: .asRequested).verdict == .fresh)
    }

    // MARK: What the response demands

    @Test("5.2.2.4: no-cache asks each time; with fields it doesn't")
    func noCache() throws {
        #expect(try judge("max-age=60, no-cache").verdict == .noCache)
        #expect(try judge("max-age=60, no-cache=\"set-cookie\"").verdict == .fresh)
        #expect(try !judge("max-age=60, no-cache", after: 100).mayBeServedWhenUnreachable)
    }

    @Test(
        "5.2.2.2, 5.2.2.8: stale answers that may not be given",
        arguments: [("must-revalidate", false), ("no-cache", false), ("proxy-revalidate", true), ("s-maxage=2", true)])
    func forbidsStale(directive: String, sharedOnly: Bool) throws {
        for isShared in [false, true] {
            let judged = try judge(
                "max-age=2, stale-while-revalidate=60, stale-if-error=60, \(directive)", after: 10,
                request: [.cacheControl: "max-stale"], isShared: isShared)
            let forbidden = isShared || !sharedOnly
            #expect(judged.mayBeServedWhenUnreachable == !forbidden)
            #expect(judged.mayBeServedOnError == !forbidden)
            #expect(judged.mayBeServed == !forbidden)
        }
        #expect(try judge("max-age=60, must-revalidate").verdict == .fresh)
    }

    @Test("4.2.4: a stale answer may be given when the origin can't be reached")
    func staleWhenUnreachable() throws {
        #expect(try judge("max-age=2").mayBeServedWhenUnreachable)
        #expect(try !judge("max-age=2").mayBeServedOnError)
    }

    @Test("RFC 5861 section 3: stale-while-revalidate has a window")
    func staleWhileRevalidate() throws {
        #expect(try judge("max-age=1, stale-while-revalidate=10", after: 10.9).mayBeServedWhileRevalidating)
        #expect(try !judge("max-age=1, stale-while-revalidate=10", after: 11).mayBeServedWhileRevalidating)
        #expect(try !judge("max-age=60, stale-while-revalidate=10").mayBeServedWhileRevalidating)
        #expect(try !judge("max-age=1, stale-while-revalidate=x", after: 2).mayBeServedWhileRevalidating)
        #expect(try !judge("max-age=1", after: 2).mayBeServedWhileRevalidating)
        #expect(
            try !judge("max-age=1, stale-while-revalidate=10", after: 2, request: [.cacheControl: "no-cache"])
                .mayBeServedWhileRevalidating)
    }

    @Test("RFC 5861 section 4: stale-if-error has a window, of the response or of the request")
    func staleIfError() throws {
        #expect(try judge("max-age=1, stale-if-error=10", after: 10.9).mayBeServedOnError)
        #expect(try !judge("max-age=1, stale-if-error=10", after: 11).mayBeServedOnError)
        #expect(try judge("max-age=1", request: [.cacheControl: "stale-if-error=10"]).mayBeServedOnError)
    }

    @Test("RFC 8246 section 2: a reload doesn't ask for what can't change while it is fresh")
    func immutable() throws {
        let reload: HTTPFields = [.cacheControl: "max-age=0"]
        #expect(try judge("max-age=60, immutable", request: reload).verdict == .fresh)
        #expect(try judge("max-age=60", request: reload).verdict == .requestMaxAge)
        #expect(try judge("max-age=2, immutable", request: reload).mayBeServed == false)
        #expect(try judge("max-age=60, immutable", request: [.cacheControl: "no-cache"]).verdict == .requestNoCache)
    }

    // MARK: What the request wishes

    @Test("5.2.1.1: max-age of the request")
    func requestMaxAge() throws {
        #expect(try judge("max-age=60", after: 10, request: [.cacheControl: "max-age=9"]).verdict == .requestMaxAge)
        #expect(try judge("max-age=60", after: 10, request: [.cacheControl: "max-age=10"]).verdict == .fresh)
        #expect(try judge("max-age=60", after: 0, request: [.cacheControl: "max-age=0"]).verdict == .requestMaxAge)
        #expect(
            try judge("max-age=3600", after: 1, age: ["1800"], request: [.cacheControl: "max-age=600"]).verdict
                == .requestMaxAge)
    }

    @Test("5.2.1.2: max-stale of the request, with and without a bound")
    func requestMaxStale() throws {
        #expect(try judge("max-age=2", request: [.cacheControl: "max-stale=8"]).verdict == .acceptedStale)
        #expect(try judge("max-age=2", request: [.cacheControl: "max-stale=7"]).verdict == .expired)
        #expect(try judge("max-age=2", request: [.cacheControl: "max-stale"]).verdict == .acceptedStale)
        #expect(try judge("max-age=2", request: [.cacheControl: "max-stale=x"]).verdict == .expired)
        #expect(
            try judge("max-age=1500", after: 0, age: ["2000"], request: [.cacheControl: "max-stale=1000"]).mayBeServed)
    }

    @Test("5.2.1.3: min-fresh of the request")
    func requestMinFresh() throws {
        #expect(try judge("max-age=60", after: 10, request: [.cacheControl: "min-fresh=50"]).verdict == .fresh)
        #expect(
            try judge("max-age=60", after: 10, request: [.cacheControl: "min-fresh=51"]).verdict == .requestMinFresh)
    }

    @Test("5.2.1.4, 5.4: no-cache of the request; Pragma where there is no Cache-Control")
    func requestNoCache() throws {
        let pragma = try #require(HTTPField.Name("Pragma"))
        #expect(try judge("max-age=60", request: [.cacheControl: "no-cache"]).verdict == .requestNoCache)
        #expect(try judge("max-age=60", request: [pragma: "no-cache"]).verdict == .requestNoCache)
        #expect(try judge("max-age=60", request: [pragma: "no-cache", .cacheControl: "max-age=600"]).verdict == .fresh)
        #expect(try judge("max-age=60", request: [pragma: "other"]).verdict == .fresh)
        #expect(try judge("max-age=60", more: [pragma: "no-cache"]).verdict == .fresh)
        #expect(try !judge("max-age=1", request: [.cacheControl: "no-cache"]).mayBeServedWhenUnreachable)
    }

    // MARK: What the caller decides

    @Test("expiry .server: the caller's default counts where the origin gives no lifetime, and nowhere else")
    func callersDefault() throws {
        let day = Expiry.server(otherwise: .seconds(86_400))
        #expect(try judge(after: 86_399, expiry: day, rules: .asRequested).basis == .caller)
        #expect(try judge(after: 86_399, expiry: day, rules: .asRequested).verdict == .fresh)
        #expect(try judge(after: 86_400, expiry: day, rules: .asRequested).verdict == .expired)
        #expect(try judge("max-age=5", expiry: day, rules: .asRequested).verdict == .expired)
        #expect(try judge("no-cache", expiry: day, rules: .asRequested).verdict == .noCache)
        #expect(try judge(more: [.expires: "0"], expiry: day, rules: .asRequested).verdict == .expired)
        #expect(try judge(status: 503, expiry: day, rules: .asRequested).verdict == .expired)
        #expect(try judge(expiry: day, rules: .http).verdict == .expired)
    }

    @Test("expiry .server with zero: revalidated each time, also where HTTP would guess")
    func callersZero() throws {
        let zero = Expiry.server(otherwise: .zero)
        #expect(try judge(after: 0, modified: -100_000, expiry: zero, rules: .asRequested).verdict == .expired)
        #expect(try judge(after: 0, modified: -100_000, expiry: zero, rules: .http).verdict == .fresh)
    }

    @Test("expiry .after: fixed as it was stored, whatever the origin says; a reader may only shorten it")
    func fixed() throws {
        func judged(_ control: String, after seconds: Double, reader: Double, fixed: Double?) throws -> Freshness {
            try judge(control, after: seconds, expiry: .after(.seconds(reader)), rules: .asRequested, fixed: fixed)
        }
        #expect(try judged("max-age=1, no-cache", after: 59, reader: 60, fixed: 60).verdict == .fresh)
        #expect(try judged("max-age=1000", after: 60, reader: 60, fixed: 60).verdict == .expired)
        #expect(try judged("max-age=1000", after: 60, reader: 600, fixed: 60).verdict == .expired)
        #expect(try judged("max-age=1000", after: 10, reader: 10, fixed: 60).verdict == .expired)
        #expect(try judged("max-age=1", after: 10, reader: 60, fixed: nil).verdict == .fresh)
        #expect(try judged("max-age=1", after: 59, reader: 60, fixed: 60).basis == .fixed)
        // An age that the answer already had when it came is the origin's affair, not the caller's.
        #expect(
            try judge(after: 1, age: ["9999"], expiry: .after(.seconds(60)), rules: .asRequested, fixed: 60).mayBeServed
        )
    }

    @Test("expiry .after of the writer still bounds a reader who lets the server decide, but not HTTP's rules alone")
    func fixedThenServer() throws {
        #expect(
            try judge("max-age=1000", after: 60, expiry: .standard, rules: .asRequested, fixed: 60).verdict == .expired)
        #expect(
            try judge("max-age=1000", after: 59, expiry: .standard, rules: .asRequested, fixed: 60).verdict == .fresh)
        #expect(
            try judge("max-age=5", after: 10, expiry: .standard, rules: .asRequested, fixed: 60).verdict == .expired)
        #expect(try judge("max-age=1000", after: 60, expiry: .standard, rules: .http, fixed: 60).verdict == .fresh)
        #expect(
            try judge("max-age=5", after: 10, expiry: .after(.seconds(60)), rules: .http, fixed: 60).verdict == .expired
        )
    }

    @Test("expiry .after is for what is an answer: an error keeps to the origin's rules")
    func fixedError() throws {
        #expect(
            try judge("max-age=5", status: 404, expiry: .after(.seconds(60)), rules: .asRequested).verdict == .expired)
    }

    @Test("expiry .never: served whatever its age")
    func never() throws {
        let judged = try judge("max-age=1, no-cache", after: 1e9, expiry: .never, rules: .asRequested, fixed: 60)
        #expect(judged.verdict == .fresh)
        #expect(judged.freshUntil == nil)
        #expect(try judge("max-age=1", expiry: .never, rules: .http).verdict == .expired)
    }

    // MARK: Words

    @Test("The arithmetic reads as a sentence")
    func words() throws {
        #expect(
            try judge("max-age=60", after: 100).description == "expired 40 s ago: age 100 s, lifetime 60 s (max-age)")
        #expect(try judge("max-age=60").description == "fresh for 50 s: age 10 s, lifetime 60 s (max-age)")
        #expect(
            try judge("no-cache").description
                == "the response says no-cache: age 10 s, lifetime 0 s (no lifetime given)")
        #expect(
            try judge(expiry: .never, rules: .asRequested).description == "fresh: age 10 s, no end (expiry never)")
    }
}
