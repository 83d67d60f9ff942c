import Stages
import Testing

@testable import ImageServer

@Suite("Conditions, ranges and priorities are read as their RFCs say")
struct ReplyTests {
    @Test(
        "Ranges of ten bytes",
        arguments: [
            ("bytes=0-3", 0..<4), ("bytes=4-", 4..<10), ("bytes=-3", 7..<10), ("bytes=8-99", 8..<10),
            ("bytes=-99", 0..<10), ("BYTES=0-0", 0..<1),
        ] as [(String, Range<Int>)])
    func ranges(field: String, expected: Range<Int>) {
        #expect(RequestedRange(field)?.bytes(of: 10) == expected)
    }

    @Test("Ranges that no byte is in", arguments: ["bytes=10-", "bytes=-0"])
    func emptyRanges(field: String) throws {
        #expect(try #require(RequestedRange(field)).bytes(of: 10) == nil)
    }

    @Test(
        "Malformed and several ranges are ignored",
        arguments: ["bytes=3-1", "bytes=a-b", "items=0-1", "bytes=0-1,4-5", "bytes=-"])
    func ignoredRanges(field: String) {
        #expect(RequestedRange(field) == nil)
    }

    @Test(
        "Tags are compared weakly",
        arguments: [
            ("\"a\"", true), ("W/\"a\"", true), ("\"b\", \"a\"", true), ("*", true), ("\"b\"", false), ("a", false),
        ])
    func tags(field: String, isKnown: Bool) {
        #expect(EntityTags(field).contains("\"a\"") == isKnown)
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
