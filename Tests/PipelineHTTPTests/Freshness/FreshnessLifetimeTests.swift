import Essentials
import HTTPTypes
import Pipeline
import PipelineHTTP
import Testing

@Suite("How long a response is fresh (RFC 9111 sections 4.2.1 and 4.2.2)")
struct FreshnessLifetimeTests: FreshnessSuite {
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
        "5.3: an Expires that isn't a date is past", arguments: ["0", "-1", "Thu, 18 Aug 2050 02:01:18 UTC", ""])
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
}
