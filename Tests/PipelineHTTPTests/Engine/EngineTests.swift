import Essentials
import HTTPTypes
import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineHTTP

/// The pure functions by which both fronts go.
@Suite("The engine of HTTP caching")
struct EngineTests {
    @Test(
        "4.3.4: what a 304 says of a stored response",
        arguments: [
            ([.eTag: "\"1\""], [.eTag: "\"1\""], [:], .confirmsStored),
            ([.eTag: "\"2\""], [.eTag: "\"1\""], [:], .concernsAnother),
            ([.eTag: "W/\"1\""], [.eTag: "\"1\""], [:], .confirmsStored),
            ([.eTag: "\"1\""], [.eTag: "W/\"1\""], [:], .concernsAnother),
            ([:], [.eTag: "\"1\""], [:], .confirmsStored),
            ([.lastModified: "b"], [.lastModified: "a"], [:], .concernsAnother),
            ([.eTag: "\"1\""], nil, [:], .concernsAnother),
            ([.eTag: "\"2\""], [.eTag: "\"1\""], [.ifNoneMatch: "\"2\""], .answersCaller),
            ([:], [.eTag: "\"1\""], [.ifNoneMatch: "\"2\""], .answersCaller),
            ([.eTag: "\"1\""], [.eTag: "\"1\""], [.ifNoneMatch: "\"2\""], .confirmsStored),
        ] as [(HTTPFields, HTTPFields?, HTTPFields, NotModified)])
    func notModified(headers: HTTPFields, stored: HTTPFields?, request: HTTPFields, expected: NotModified) {
        #expect(NotModified(headers, stored: stored, request: request) == expected)
    }

    @Test(
        "4.3.3: which answers take the place of the stored response",
        arguments: [
            (200, true), (204, true), (206, false), (301, true), (302, true), (304, false), (401, true), (404, true),
            (410, true), (412, false), (416, false), (429, true), (500, false), (503, false), (103, false),
        ])
    func evicts(status: Int, expected: Bool) {
        #expect(status.evictsStored == expected)
    }

    @Test(
        "Which redirects are stored, by the server's word and by the caller's",
        arguments: [
            (301, nil, .standard, true), (308, nil, .standard, true), (302, nil, .standard, false),
            (303, nil, .standard, false), (307, nil, .standard, false), (302, "max-age=1", .standard, true),
            (302, nil, .after(.seconds(1)), true), (307, nil, .never, true), (301, "no-store", .never, false),
            (302, "no-store, max-age=1", .after(.seconds(1)), false),
        ] as [(Int, String?, Expiry, Bool)])
    func redirects(status: Int, control: String?, expiry: Expiry, isStored: Bool) throws {
        var headers: HTTPFields = [.location: "/b"]
        headers[.cacheControl] = control
        let exchange = try HTTPExchange.test(status: status, headers, at: ManualClock().now)
        let draft = { (rules: CacheRules) in
            StoringPolicy().draft(exchange, .test(), now: exchange.responseTime, expiry, rules)
        }
        #expect((draft(.asRequested) != nil) == isStored)
        // HTTP's rules alone know nothing of the caller's expiry.
        let byServer = control != "no-store" && (status == 301 || status == 308 || control == "max-age=1")
        #expect((draft(.http) != nil) == byServer)
    }

    @Test(
        "A chain that is one entry is fresh as long as each redirect, and not stored if one says no-store",
        arguments: [
            (["max-age=60", "max-age=10"], 10), (["max-age=60", nil], -1), ([nil], -1), (["no-cache, max-age=60"], -1),
            (["max-age=60", "no-store"], nil), (["max-age=1000"], 100),
        ] as [([String?], Double?)])
    func chain(controls: [String?], end: Double?) throws {
        let now = ManualClock().now
        let redirects = try controls.map { control in
            var headers: HTTPFields = [.location: "/b"]
            headers[.cacheControl] = control
            return try HTTPExchange.test(status: 302, headers, at: now)
        }
        let exchange = try HTTPExchange.test(status: 200, [.cacheControl: "max-age=100"], at: now)
        let draft = StoringPolicy().draft(exchange, .test(), within: redirects, now: now, .standard, .asRequested)
        #expect((draft == nil) == (end == nil))
        guard let draft, let end else { return }
        for rules in [CacheRules.asRequested, .http] {
            func isFresh(after seconds: Double) -> Bool {
                Freshness(of: draft, for: [:], now: now + seconds, expiry: .standard, rules: rules).mayBeServed
            }
            #expect(isFresh(after: end - 0.5) == (end > 0))
            #expect(!isFresh(after: max(0, end)))
        }
        #expect(
            Freshness(of: draft, for: [:], now: now + 1e6, expiry: .never, rules: .asRequested).mayBeServed)
    }

    @Test(
        "What stands in for an origin that fails",
        arguments: [
            ("max-age=1", .unreachable, true), ("max-age=1", .status(503), false),
            ("max-age=1, stale-if-error=60", .status(503), true), ("max-age=1, stale-if-error=60", .status(501), false),
            ("max-age=1, stale-if-error=60", .status(404), false), ("max-age=1, must-revalidate", .unreachable, false),
            ("no-cache", .unreachable, false),
        ] as [(String, OriginFailure, Bool)])
    func standIn(control: String, failure: OriginFailure, expected: Bool) throws {
        let now = ManualClock().now
        let exchange = try HTTPExchange.test(status: 200, [.cacheControl: control], at: now)
        let stored = try #require(StoringPolicy().draft(exchange, .test(), now: now, .standard, .http))
        let freshness = Freshness(of: stored, for: [:], now: now + 10, expiry: .standard, rules: .http)
        #expect(freshness.mayStandIn(for: failure) == expected)
    }

    @Test(
        "What stands in for an origin that fails if the caller allows it for 20 seconds",
        arguments: [
            ("max-age=1", .status(503), 10, true), ("max-age=1", .status(501), 10, true),
            ("max-age=1", .status(503), 21, false), ("max-age=1", .status(404), 10, false),
            ("max-age=1", .status(429), 10, false), ("max-age=1, must-revalidate", .status(503), 10, false),
            ("no-cache", .status(503), 10, false), ("max-age=1", .unreachable, 1000, true),
            ("max-age=1, stale-if-error=60", .status(503), 40, true),
        ] as [(String, OriginFailure, Double, Bool)])
    func allowedStandIn(control: String, failure: OriginFailure, after: Double, expected: Bool) throws {
        let now = ManualClock().now
        let exchange = try HTTPExchange.test(status: 200, [.cacheControl: control], at: now)
        let stored = try #require(StoringPolicy().draft(exchange, .test(), now: now, .standard, .http))
        let freshness = Freshness(of: stored, for: [:], now: now + after, expiry: .standard, rules: .http)
        #expect(freshness.mayStandIn(for: failure, within: .seconds(20)) == expected)
    }

    @Test("A shared cache judges again whether a response may stay after a 304")
    func privateAfter304() throws {
        let now = ManualClock().now
        let policy = StoringPolicy(isShared: true)
        let exchange = try HTTPExchange.test(status: 200, [.cacheControl: "max-age=60"], at: now)
        let stored = try #require(policy.draft(exchange, .test(), now: now, .standard, .http))
        for (control, mayStay) in [("max-age=60", true), ("private, max-age=60", false), ("no-store", false)] {
            let update = try HTTPExchange.test(status: 304, [.cacheControl: control], body: [], at: now)
            let merged = policy.merged(stored, by: update, now: now, .standard, .http)
            #expect(policy.mayStay(merged, after: update, .standard, .http) == mayStay)
        }
    }
}
