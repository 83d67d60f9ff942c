import HTTPTypes
import Pipeline
import TestFixtures
import Testing

@testable import PipelineHTTP

@Suite("Vary (RFC 9111 section 4.1)", .inEachStore)
struct VaryTests {
    /// Whether a response to one request fits another.
    func fits(_ vary: [String], _ first: [(String, String)], _ second: [(String, String)]) throws -> Bool {
        var response = HTTPFields()
        for line in vary { response.append(HTTPField(name: .vary, value: line)) }
        let selecting = try #require(SelectingFields(vary: response, request: try fields(first)))
        let stored = try #require(SelectingFields(encoded: selecting.encoded))
        #expect(stored == selecting)
        return stored.match(try fields(second), of: .several)
    }

    func fields(_ lines: [(String, String)]) throws -> HTTPFields {
        var fields = HTTPFields()
        for (name, value) in lines { fields.append(HTTPField(name: try #require(.init(name)), value: value)) }
        return fields
    }

    @Test("Without Vary every request fits")
    func none() throws {
        #expect(try fits([], [("Foo", "1")], [("Foo", "2")]))
        #expect(try fits(["", ","], [("Foo", "1")], [("Foo", "2")]))
    }

    @Test("The fields that it names have to be the same, others don't matter")
    func same() throws {
        #expect(try fits(["Foo"], [("Foo", "1"), ("Other", "2")], [("foo", "1"), ("Other", "3")]))
        #expect(try !fits(["Foo"], [("Foo", "1")], [("Foo", "2")]))
        #expect(try !fits(["Foo"], [("Foo", "a")], [("Foo", "A")]))
        #expect(
            try fits(
                ["Foo, Bar", "baz"], [("Foo", "1"), ("Bar", "a"), ("Baz", "7")],
                [("Baz", "7"), ("Bar", "a"), ("Foo", "1")]))
        #expect(
            try !fits(
                ["Foo, Bar", "baz"], [("Foo", "1"), ("Bar", "a"), ("Baz", "7")],
                [("Foo", "1"), ("Baz", "7"), ("Bar", "b")]))
    }

    @Test("A field that one of them lacks is a difference, one that both lack is none")
    func absent() throws {
        #expect(try !fits(["Foo"], [], [("Foo", "1")]))
        #expect(try !fits(["Foo"], [("Foo", "1")], []))
        #expect(try !fits(["Foo"], [("Foo", "")], []))
        #expect(try fits(["Foo, Bar"], [("Foo", "1")], [("Foo", "1")]))
    }

    @Test("* fits no request", arguments: ["*", "*, *", ", *", "Foo, *", "*, Foo", " * "])
    func star(vary: String) throws {
        #expect(SelectingFields(vary: [.vary: vary], request: [:]) == nil)
    }

    @Test("Lines are combined and white space around commas goes, but not in quotes")
    func normalised() throws {
        #expect(try fits(["Foo"], [("Foo", "1, 2")], [("Foo", "1"), ("Foo", "2")]))
        #expect(try fits(["Foo"], [("Foo", "1,2")], [("Foo", " 1, 2 ")]))
        #expect(try !fits(["Foo"], [("Foo", "1, 2")], [("Foo", "2, 1")]))
        #expect(try !fits(["Foo"], [("Foo", "\"1, 2\"")], [("Foo", "\"1,2\"")]))
        #expect(try !fits(["Foo"], [("Foo", "\"\\\", 2\"")], [("Foo", "\"\\\",2\"")]))
        #expect(try !fits(["Foo"], [("Foo", "1 2")], [("Foo", "12")]))
    }

    @Test("Where order and case mean nothing, they make no difference")
    func preferences() throws {
        #expect(try fits(["Accept-Language"], [("Accept-Language", "en, de")], [("Accept-Language", " De ,  eN")]))
        #expect(
            try fits(["Accept-Language"], [("Accept-Language", "en; q=0.5, de")], [("Accept-Language", "de, en;q=0.5")])
        )
        #expect(
            try !fits(["Accept-Language"], [("Accept-Language", "en;q=0.5, de")], [("Accept-Language", "en, de;q=0.5")])
        )
        #expect(try fits(["Accept-Encoding"], [("Accept-Encoding", "gzip, br")], [("Accept-Encoding", "BR,gzip")]))
        #expect(try fits(["Accept"], [("Accept", "image/webp, */*;q=0.1")], [("Accept", "*/*; q=0.1,image/webp")]))
        #expect(try !fits(["Accept"], [("Accept", "image/webp")], [("Accept", "image/avif")]))
    }

    @Test("Credentials are kept as digests only", arguments: ["Authorization", "Cookie", "Proxy-Authorization"])
    func credentials(name: String) throws {
        let request = try fields([(name, "Basic c2VjcmV0")])
        let selecting = try #require(SelectingFields(vary: [.vary: name], request: request))
        #expect(selecting.fields.first?.value == BLAKE2bDigest(of: "Basic c2VjcmV0").bytes)
        #expect(selecting.match(request, of: .several))
        #expect(!selecting.match(try fields([(name, "Basic b3RoZXI=")]), of: .several))
    }

    @Test(
        "Bytes that aren't selecting fields are refused",
        arguments: [[1], [1, 0, 0, 0, 65], [1, 0, 0, 0, 65, 1, 9, 0, 0, 0]] as [[UInt8]])
    func damaged(bytes: [UInt8]) {
        #expect(SelectingFields(encoded: bytes) == nil)
    }
}
