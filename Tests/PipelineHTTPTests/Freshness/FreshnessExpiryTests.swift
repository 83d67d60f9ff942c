import Essentials
import HTTPTypes
import Pipeline
import PipelineHTTP
import Testing

@Suite("What the caller decides about freshness")
struct FreshnessExpiryTests: FreshnessSuite {
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
        #expect(try judge(status: 404, expiry: day, rules: .asRequested).verdict == .expired)
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
        // An age that the response already had when it came is the origin's affair, not the caller's.
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

    @Test("expiry .after and .never are for pictures: an error keeps to the origin's rules")
    func fixedError() throws {
        #expect(
            try judge("max-age=5", status: 404, expiry: .after(.seconds(60)), rules: .asRequested).verdict == .expired)
        #expect(try judge("max-age=5", status: 404, expiry: .never, rules: .asRequested).verdict == .expired)
    }

    @Test("expiry .never: served whatever its age")
    func never() throws {
        let judged = try judge("max-age=1, no-cache", after: 1e9, expiry: .never, rules: .asRequested, fixed: 60)
        #expect(judged.verdict == .fresh)
        #expect(judged.freshUntil == nil)
        #expect(try judge("max-age=1", expiry: .never, rules: .http).verdict == .expired)
    }
}
