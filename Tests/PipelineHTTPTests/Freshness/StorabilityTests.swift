import Essentials
import HTTPTypes
import TestFixtures
import Testing

@testable import PipelineHTTP

@Suite("What may be stored (RFC 9111 section 3)")
struct StorabilityTests {
    func isStorable(
        _ control: String? = nil, method: HTTPRequest.Method = .get, status: Int = 200, request: HTTPFields = [:],
        more: HTTPFields = [:], isShared: Bool = false
    ) throws -> Bool {
        var headers = more
        if let control { headers[.cacheControl] = control }
        let exchange = try HTTPExchange.test(
            method: method, request: request, status: status, headers, at: Date(timeIntervalSince1970: 0))
        return Storability(of: exchange, isShared: isShared) == .storable
    }

    @Test(
        "Statuses that may be stored without a word of the origin's",
        arguments: [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501])
    func heuristicallyCacheable(status: Int) throws {
        #expect(try isStorable(status: status))
    }

    @Test(
        "Other final statuses need a lifetime, public or private",
        arguments: [201, 202, 299, 302, 303, 307, 400, 403, 499, 500, 502, 503, 504, 599])
    func explicitlyCacheable(status: Int) throws {
        #expect(try !isStorable(status: status))
        #expect(try !isStorable("no-cache", status: status))
        #expect(try isStorable("max-age=60", status: status))
        #expect(try isStorable("public", status: status))
        #expect(try isStorable("private", status: status))
        #expect(try !isStorable("private", status: status, isShared: true))
        #expect(try !isStorable("s-maxage=60", status: status))
        #expect(try isStorable("s-maxage=60", status: status, isShared: true))
        #expect(try isStorable(status: status, more: [.expires: "0"]))
    }

    @Test(
        "Partial and bodiless confirmations are not responses of their own",
        arguments: [206, 304, 100, 103, 199, 600, 999])
    func notWhole(status: Int) throws {
        #expect(try !isStorable("public, max-age=60", status: status))
    }

    @Test("Only answers to GET", arguments: [HTTPRequest.Method.head, .post, .put, .delete, .options])
    func methods(method: HTTPRequest.Method) throws {
        #expect(try !isStorable("public, max-age=60", method: method))
    }

    @Test(
        "5.2.2.5, 5.2.1.5: no-store of either side",
        arguments: ["no-store", "No-StOrE", "max-age=60, no-store", "no-store=x"])
    func noStore(control: String) throws {
        #expect(try !isStorable(control))
        #expect(try !isStorable("max-age=60", request: [.cacheControl: control]))
    }

    @Test("5.2.2.3: must-understand overrules no-store for statuses that are known, and forbids the others")
    func mustUnderstand() throws {
        #expect(try isStorable("max-age=3600, no-store, must-understand"))
        #expect(try !isStorable("max-age=3600, no-store, must-understand", status: 599))
        #expect(try !isStorable("max-age=3600, must-understand", status: 299))
        #expect(try isStorable("max-age=3600", status: 599))
    }

    @Test("7.3: Set-Cookie, in a shared cache only where the response says public, or doesn't have the cookie stored")
    func cookies() throws {
        let cookie: HTTPFields = [.setCookie: "session=1"]
        for control in ["max-age=60", "s-maxage=60", "max-age=60, must-revalidate", "no-cache"] {
            #expect(try isStorable(control, more: cookie))
            #expect(try !isStorable(control, more: cookie, isShared: true))
            #expect(try isStorable(control + ", public", more: cookie, isShared: true))
        }
        #expect(try isStorable("max-age=60, private=\"set-cookie\"", more: cookie, isShared: true))
        #expect(try isStorable("max-age=60, no-cache=\"set-cookie\"", more: cookie, isShared: true))
        #expect(try !isStorable("max-age=60, private=\"x-name\"", more: cookie, isShared: true))
        // RFC 9213: the targeted field counts instead.
        let name = try #require(HTTPField.Name("CDN-Cache-Control"))
        let targeted: HTTPFields = [.setCookie: "session=1", name: "max-age=60"]
        #expect(try !isStorable("max-age=60, public", more: targeted, isShared: true))
    }

    @Test("5.2.2.7, 3.5: private and Authorization, in a private cache and in a shared one")
    func shared() throws {
        let authorized: HTTPFields = [.authorization: "Bearer x"]
        #expect(try isStorable("private"))
        #expect(try !isStorable("private", isShared: true))
        #expect(try isStorable("private=\"set-cookie\"", isShared: true))
        #expect(try isStorable("max-age=60", request: authorized))
        #expect(try !isStorable("max-age=60", request: authorized, isShared: true))
        #expect(try isStorable("max-age=60, public", request: authorized, isShared: true))
        #expect(try isStorable("max-age=60, must-revalidate", request: authorized, isShared: true))
        #expect(try isStorable("s-maxage=60", request: authorized, isShared: true))
    }

    @Test(
        "4.1: what varies by everything would never fit again",
        arguments: ["*", "*, *", ", *", "Accept, *", "*, Accept"])
    func varyStar(vary: String) throws {
        #expect(try !isStorable("max-age=60", more: [.vary: vary]))
        #expect(try isStorable("max-age=60", more: [.vary: "Accept"]))
    }

    @Test("3.3: an incomplete body is not stored")
    func incomplete() throws {
        #expect(try isStorable(more: [.contentLength: "4"]))
        #expect(try !isStorable(more: [.contentLength: "5"]))
        #expect(
            try !isStorable(more: [.contentLength: "5", .contentEncoding: "gzip"]), "fewer bytes than the encoded ones")
        #expect(try isStorable(more: [.contentLength: "3", .contentEncoding: "gzip"]), "decoded, with the fields left")
    }

    @Test("3.1: fields of the connection are not stored, nor what it names")
    func connectionFields() throws {
        var headers = HTTPFields()
        for name in [
            "Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization",
            "Proxy-Connection", "TE", "Transfer-Encoding", "Upgrade", "A", "B", "C", "Trailer", "Set-Cookie",
        ] {
            headers.append(HTTPField(name: try #require(.init(name)), value: "x"))
        }
        headers.append(HTTPField(name: .connection, value: "a, b"))
        #expect(StorableFields.of(headers).map(\.name.rawName) == ["C", "Trailer", "Set-Cookie"])
    }

    @Test("5.2.2.4, 5.2.2.7: fields that no-cache names are not stored, nor those that private names in a shared cache")
    func namedFields() throws {
        let (a, b, c) = (
            try #require(HTTPField.Name("a")), try #require(HTTPField.Name("b")), try #require(HTTPField.Name("c"))
        )
        let headers: HTTPFields = [.cacheControl: "no-cache=\"A, b\", private=c, max-age=5", a: "1", b: "2", c: "3"]
        #expect(StorableFields.of(headers).map(\.name) == [.cacheControl, c])
        #expect(StorableFields.of(headers, isShared: true).map(\.name) == [.cacheControl])
    }

    @Test(
        "RFC 9110 9.3.3: a response to a POST with a lifetime of its own and its own URL as Content-Location",
        arguments: [
            ("max-age=60", "http://example.com/a.jpg", 200, true), ("max-age=60", "/a.jpg", 200, true),
            ("max-age=60", "HTTP://EXAMPLE.com/a.jpg", 200, true),
            ("max-age=60", "/b.jpg", 200, false), ("max-age=60", "http://example.org/a.jpg", 200, false),
            ("max-age=60", nil, 200, false), ("public", "/a.jpg", 200, false), (nil, "/a.jpg", 200, false),
            ("max-age=60", "/a.jpg", 201, false), ("max-age=60, no-store", "/a.jpg", 200, false),
        ] as [(String?, String?, Int, Bool)])
    func post(control: String?, location: String?, status: Int, expected: Bool) throws {
        var more = HTTPFields()
        more[.contentLocation] = location
        #expect(try isStorable(control, method: .post, status: status, more: more) == expected)
    }
}
