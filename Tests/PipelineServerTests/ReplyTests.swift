import Metrics
import HTTPTypes
import Pipeline
import Testing

@testable import PipelineServer

@Suite("Conditions, ranges and priorities are read as their RFCs say")
struct ReplyTests {
    /// The response of a reply of ten bytes with the tag that its bytes have.
    private func response(_ fields: HTTPFields, method: HTTPRequest.Method = .get) -> ServerResponse {
        var reply = Reply(Array(0..<10), type: "image/png")
        reply.addTag()
        return reply.response(
            to: HTTPRequest(method: method, scheme: nil, authority: nil, path: "/a", headerFields: fields))
    }

    @Test(
        "Ranges of ten bytes",
        arguments: [
            ("bytes=0-3", 0..<4), ("bytes=4-", 4..<10), ("bytes=-3", 7..<10), ("bytes=8-99", 8..<10),
            ("bytes=-99", 0..<10), ("BYTES=0-0", 0..<1),
        ] as [(String, Range<Int>)])
    func ranges(field: String, expected: Range<Int>) {
        let response = response([.range: field])
        #expect(response.head.status == .partialContent && response.body.bytes.indices == expected)
        #expect(
            response.head.headerFields[.contentRange] == "bytes \(expected.lowerBound)-\(expected.upperBound - 1)/10")
    }

    @Test("Ranges that no byte is in", arguments: ["bytes=10-", "bytes=-0", "bytes=99999999999999999999-"])
    func emptyRanges(field: String) {
        #expect(response([.range: field]).head.status == .rangeNotSatisfiable)
    }

    @Test(
        "Malformed and several ranges are ignored, as are those of HEAD and of other bytes",
        arguments: ["bytes=3-1", "bytes=a-b", "items=0-1", "bytes=0-1,4-5", "bytes=-"])
    func ignoredRanges(field: String) {
        #expect(response([.range: field]).head.status == .ok)
        #expect(response([.range: "bytes=0-1", .ifRange: "\"other\""]).head.status == .ok)
        #expect(response([.range: "bytes=0-1"], method: .head).head.status == .ok)
    }

    @Test("If-None-Match compares weakly, and If-Match strongly")
    func tags() throws {
        let tag = try #require(response([:]).head.headerFields[.eTag])
        for (field, isKnown) in [
            (tag, true), ("W/\(tag)", true), ("\"b\", \(tag)", true), ("*", true), ("\"b\"", false),
        ] {
            #expect((response([.ifNoneMatch: field]).head.status == .notModified) == isKnown, "\(field)")
            let isStrong = isKnown && !field.hasPrefix("W/")
            #expect((response([.ifMatch: field]).head.status == .ok) == isStrong, "\(field)")
        }
    }

    @Test("If-Modified-Since counts where there is no If-None-Match and the picture has a date")
    func dates() {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        func status(_ fields: HTTPFields, modified: String? = date, _ method: HTTPRequest.Method = .get) -> Int {
            var reply = Reply(Array(0..<10), type: "image/png")
            reply.fields[.lastModified] = modified
            reply.addTag()
            let response = reply.response(
                to: HTTPRequest(method: method, scheme: nil, authority: nil, path: "/a", headerFields: fields))
            #expect(response.head.status != .notModified || response.body.bytes.isEmpty)
            return response.head.status.code
        }
        for (since, expected) in [
            (date, 304), ("Sun, 06 Nov 1994 08:49:38 GMT", 304), ("Sunday, 06-Nov-94 08:49:37 GMT", 304),
            ("Sun Nov  6 08:49:37 1994", 304), ("Sun, 06 Nov 1994 08:49:36 GMT", 200), ("", 200), ("0", 200),
            ("Sun, 06 Nov 1994 08:49:37", 200), ("\(date), \(date)", 200),
        ] { #expect(status([.ifModifiedSince: since]) == expected, "\(since)") }
        #expect(status([.ifModifiedSince: date], .head) == 304)
        #expect(status([.ifModifiedSince: date], modified: nil) == 200)
        #expect(status([.ifModifiedSince: date], modified: "yesterday") == 200)
        // The tag comes first, whatever the date says (section 13.2.2).
        #expect(status([.ifModifiedSince: date, .ifNoneMatch: "\"other\""]) == 200)
        var two: HTTPFields = [.ifModifiedSince: date]
        two.append(HTTPField(name: .ifModifiedSince, value: date))
        #expect(status(two) == 200)
    }

    @Test("The page of metrics at its own port is for known hosts alone")
    func metricsHosts() async {
        let metrics = PrometheusMetrics()
        func status(_ host: String?, at address: String = "127.0.0.1", names: [String] = []) async -> Int {
            await metrics.response(
                to: HTTPRequest(method: .get, scheme: "http", authority: host, path: "/metrics"),
                hosts: Hosts(observedAt: address, names: names)
            ).head.status.code
        }
        for host in ["localhost:9090", "127.0.0.1:9090", "[::1]:9090", "LOCALHOST"] {
            #expect(await status(host) == 200)
        }
        for (host, expected) in [("evil.example", 421), ("localhost.evil.example", 421), (nil, 400), ("a b", 400)] {
            #expect(await status(host) == expected, "\(host ?? "none")")
        }
        #expect(await status("10.0.0.5:9090", at: "10.0.0.5") == 200)
        #expect(await status("[fd00::1]:9090", at: "fd00::1") == 200)
        #expect(await status("10.0.0.5:9090", at: "0.0.0.0") == 421)
        #expect(await status("metrics.test", at: "0.0.0.0", names: ["metrics.test"]) == 200)
    }

    @Test(
        "Urgency becomes a priority",
        arguments: [
            (nil, .normal), ("u=0", .veryHigh), ("u=2, i", .high), ("i", .normal), ("i, u=5", .low), ("u=7", .veryLow),
            ("nonsense", .normal),
        ] as [(String?, LoadPriority)])
    func priorities(field: String?, expected: LoadPriority) {
        #expect(LoadPriority(field) == expected)
    }

    @Test("A problem is JSON, whatever its text")
    func problem() {
        #expect(
            Problem(.badRequest, "a \"quote\"\n").json(id: "1f")
                == "{\"title\":\"Bad Request\",\"status\":400,\"detail\":\"a \\\"quote\\\"\\u000a\","
                + "\"instance\":\"urn:request:1f\"}")
    }

    @Test("Metrics are written as Prometheus reads them")
    func metrics() {
        let metrics = PrometheusMetrics()
        metrics.makeCounter(label: "loads.total", dimensions: [("kind", "a\"b")]).increment(by: 2)
        metrics.makeTimer(label: "seconds", dimensions: []).recordNanoseconds(3_000_000)
        #expect(
            metrics.text.hasPrefix(
                "# TYPE loads_total counter\nloads_total{kind=\"a\\\"b\"} 2\n# TYPE seconds histogram\n"))
        #expect(metrics.text.contains("seconds_bucket{le=\"0.0025\"} 0\nseconds_bucket{le=\"0.005\"} 1\n"))
        #expect(metrics.text.hasSuffix("seconds_sum 0.003\nseconds_count 1\n"))
    }
}
