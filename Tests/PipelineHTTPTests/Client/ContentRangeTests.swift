import Testing

@testable import PipelineHTTP

@Suite("Content-Range (RFC 9110 section 14.4)")
struct ContentRangeTests {
    @Test("A range of bytes is read, with and without a total")
    func valid() throws {
        let range = try #require(ContentRange("bytes 500-999/1234"))
        #expect((range.first, range.last, range.total) == (500, 999, 1234))
        #expect(ContentRange("Bytes 0-0/1")?.last == 0)
        let open = try #require(ContentRange("bytes 42-1233/*"))
        #expect((open.first, open.last, open.total) == (42, 1233, nil))
    }

    @Test(
        "Anything else is not a range",
        arguments: [
            "", "bytes", "bytes */1234", "bytes 5-4/10", "bytes 5-10/10", "bytes 5-9", "bytes 5-9/", "bytes 5/10",
            "bytes -5-9/10", "bytes +5-9/10", "bytes 5-9/10/11", "bytes=5-9/10", "items 5-9/10", "bytes 5-9/x",
            "bytes 5-99999999999999999999/*", "bytes 5 - 9/10",
        ])
    func invalid(text: String) { #expect(ContentRange(text) == nil) }
}
