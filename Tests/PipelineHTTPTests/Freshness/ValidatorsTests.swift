import Essentials
import HTTPTypes
import Testing

@testable import PipelineHTTP

@Suite("Validation (RFC 9111 section 4.3) and invalidation (section 4.4)")
struct ValidatorsTests {
    let now = Date(timeIntervalSince1970: 1_772_366_400)

    @Test("4.3.1: the origin gets its validators back, byte for byte")
    func conditions() {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        #expect(
            Validators.conditions(for: [.eTag: "\"a\"", .lastModified: date])
                == [.ifNoneMatch: "\"a\"", .ifModifiedSince: date])
        #expect(Validators.conditions(for: [.eTag: "W/\"a\""]) == [.ifNoneMatch: "W/\"a\""])
        #expect(Validators.conditions(for: [.eTag: "unquoted"]) == [.ifNoneMatch: "unquoted"])
        #expect(Validators.conditions(for: [.lastModified: date]) == [.ifModifiedSince: date])
        #expect(Validators.conditions(for: [.contentType: "image/png"]).isEmpty)
        let bytes = HTTPField(name: .eTag, lenientValue: [0x22, 0xfc, 0x22])
        let echoed = Validators.conditions(for: HTTPFields([bytes])).first
        #expect(echoed?.withUnsafeBytesOfValue { Array($0) } == [0x22, 0xfc, 0x22])
    }

    @Test(
        "4.3.4: which 304 is about the stored response",
        arguments: [
            ("\"a\"", "\"a\"", true), ("\"b\"", "\"a\"", false), ("W/\"a\"", "W/\"a\"", true),
            ("W/\"a\"", "\"a\"", true),
            ("\"a\"", "W/\"a\"", false), ("\"a\"", nil, false), (nil, "\"a\"", true), ("a", "a", true),
            ("a", "b", false),
        ] as [(String?, String?, Bool)])
    func confirms(update: String?, stored: String?, expected: Bool) {
        var (new, old) = (HTTPFields(), HTTPFields())
        new[.eTag] = update
        old[.eTag] = stored
        #expect(Validators.confirms(new, old) == expected)
    }

    @Test("4.3.4: without a tag the date decides, without either the 304 is believed")
    func confirmsByDate() {
        #expect(Validators.confirms([.lastModified: "x"], [.lastModified: "x"]))
        #expect(!Validators.confirms([.lastModified: "y"], [.lastModified: "x"]))
        #expect(Validators.confirms([:], [.lastModified: "x", .eTag: "\"a\""]))
    }

    @Test("RFC 9110 8.8.2.2, 13.1.5: only a strong validator completes a partial body")
    func strong() {
        let (older, date) = (HTTPDate.format(now - 1), HTTPDate.format(now))
        #expect(Validators.strong(in: [.eTag: "\"a\"", .lastModified: older], now: now) == "\"a\"")
        #expect(Validators.strong(in: [.eTag: "W/\"a\"", .lastModified: older, .date: date], now: now) == nil)
        #expect(Validators.strong(in: [.lastModified: older, .date: date], now: now) == older)
        #expect(Validators.strong(in: [.lastModified: date, .date: date], now: now) == nil)
        #expect(Validators.strong(in: [.lastModified: older], now: now) == nil)
        #expect(Validators.strong(in: [:], now: now) == nil)
    }

    @Test("RFC 9110 8.8.3: entity tags")
    func entityTags() throws {
        let strong = try #require(EntityTag("\"a\""))
        let weak = try #require(EntityTag("W/\"a\""))
        #expect(strong.stronglyMatches(strong) && strong.weaklyMatches(weak))
        #expect(!weak.stronglyMatches(weak) && !strong.stronglyMatches(weak))
        #expect(EntityTag("\"\"")?.opaque == "")
        for text in ["a", "\"a", "a\"", "\"", "w/\"a\"", "W/a", "\"a b\"", "\"a\"b\"", ""] {
            #expect(EntityTag(text) == nil)
        }
    }

    @Test("3.2: a 304's fields replace all of their names and leave the others")
    func merging() throws {
        let x = try #require(HTTPField.Name("X-A"))
        var stored: HTTPFields = [.cacheControl: "max-age=1", .contentType: "image/png", x: "1", .eTag: "\"a\""]
        stored.append(HTTPField(name: x, value: "2"))
        let merged = StorableFields.updating(stored, with: [x: "3", .cacheControl: "max-age=60", .age: "5"])
        #expect(merged == [.contentType: "image/png", .eTag: "\"a\"", x: "3", .cacheControl: "max-age=60", .age: "5"])
    }

    @Test("4.3.4: the age starts over, also where the 304 has no Date")
    func mergingAge() {
        #expect(StorableFields.updating([.age: "100", .date: "x", .eTag: "\"a\""], with: [:]) == [.eTag: "\"a\""])
        #expect(StorableFields.updating([.age: "100", .date: "x"], with: [.date: "y"]) == [.date: "y"])
    }

    @Test("3.2: what a 304 says of the content is not believed, and its connection's fields are not kept")
    func mergingContent() {
        let stored: HTTPFields = [
            .contentLength: "36", .contentEncoding: "gzip", .contentRange: "x", .contentType: "image/png",
            .contentLocation: "/a",
        ]
        let merged = StorableFields.updating(
            stored,
            with: [
                .contentLength: "10", .contentEncoding: "br", .contentRange: "y", .contentType: "text/html",
                .contentLocation: "/b", .connection: "close", .transferEncoding: "chunked",
            ])
        #expect(
            merged == [
                .contentLength: "36", .contentEncoding: "gzip", .contentRange: "x", .contentType: "image/png",
                .contentLocation: "/b",
            ])
        #expect(StorableFields.updating([:], with: [.contentLength: "10"]).isEmpty)
    }

    @Test("4.4: an unsafe method's success makes the target invalid, and what it points to on the same origin")
    func invalidation() throws {
        let target = try #require(URL(string: "http://example.com/dir/a"))
        func urls(_ method: String, _ status: Int, _ headers: HTTPFields = [:]) throws -> [String] {
            Invalidation.urls(
                method: try #require(.init(method)), target: target, status: status, headers: headers
            ).map(\.absoluteString)
        }
        for method in ["POST", "PUT", "DELETE", "PATCH", "M-SEARCH"] {
            #expect(try urls(method, 200) == ["http://example.com/dir/a"])
            #expect(try urls(method, 303) == ["http://example.com/dir/a"])
            #expect(try urls(method, 404) == [])
            #expect(try urls(method, 500) == [])
        }
        for method in ["GET", "HEAD", "OPTIONS", "TRACE"] { #expect(try urls(method, 200) == []) }
        #expect(
            try urls("POST", 201, [.location: "b", .contentLocation: "http://example.com/c"])
                == ["http://example.com/dir/a", "http://example.com/dir/b", "http://example.com/c"])
        #expect(
            try urls("POST", 201, [.location: "http://other.com/b", .contentLocation: "http://example.com:81/c"])
                == ["http://example.com/dir/a"])
        // Scheme and host have no case, and the scheme's own port is as good as none (RFC 9110 section 4.2.3).
        #expect(
            try urls("POST", 201, [.location: "HTTP://EXAMPLE.com/b", .contentLocation: "http://example.com:80/c"])
                .count
                == 3)
    }
}
