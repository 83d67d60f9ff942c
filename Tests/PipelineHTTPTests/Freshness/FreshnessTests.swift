import Essentials
import HTTPTypes
import Pipeline
import PipelineHTTP
import Testing

@Suite("What response and request demand (RFC 9111 section 5.2, RFC 5861, RFC 8246)")
struct FreshnessTests: FreshnessSuite {
    // MARK: What the response demands

    @Test("5.2.2.4: no-cache asks each time; with fields it doesn't")
    func noCache() throws {
        #expect(try judge("max-age=60, no-cache").verdict == .noCache)
        #expect(try judge("max-age=60, no-cache=\"set-cookie\"").verdict == .fresh)
        #expect(try !judge("max-age=60, no-cache", after: 100).mayBeServedWhenUnreachable)
    }

    @Test(
        "5.2.2.2, 5.2.2.8: stale responses that may not be given",
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

    @Test("4.2.4: a stale response may be given when the origin can't be reached")
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
