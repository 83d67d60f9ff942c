import HTTPTypes
import Testing

@testable import PipelineHTTP

@Suite("The grammar of Cache-Control (RFC 9111 section 5.2)")
struct CacheControlTests {
    func parse(_ lines: String...) -> CacheControl {
        var fields = HTTPFields()
        for line in lines { fields.append(HTTPField(name: .cacheControl, value: line)) }
        return CacheControl(fields)
    }

    @Test(
        "1.2.2: delta-seconds are digits, clamped at 2^31",
        arguments: [
            ("max-age=60", 60), ("max-age=0", 0), ("max-age=003600", 3600), ("max-age=\"3600\"", 3600),
            ("MaX-aGe=3600", 3600), ("max-age=2147483647", 2_147_483_647), ("max-age=2147483648", 2_147_483_648),
            ("max-age=99999999999", 2_147_483_648), ("max-age=99999999999999999999999999", 2_147_483_648),
        ])
    func seconds(line: String, expected: Int) {
        #expect(parse(line).seconds("max-age") == expected)
    }

    @Test(
        "4.2.1: a lifetime that breaks the grammar is there, and is none",
        arguments: [
            "max-age", "max-age=", "max-age=-3600", "max-age=+1", "max-age='3600'", "max-age=3600.0", "max-age=a3600",
            "max-age=3600a", "max-age =3600", "max-age= 3600", "max-age=\"3600", "max-age=3600;x", "max-age=36 00",
            "max-age=\"\"", "max-age=\"3600\"x",
        ])
    func invalid(line: String) {
        let control = parse(line)
        #expect(control.contains("max-age"))
        #expect(control.seconds("max-age") == nil)
    }

    @Test("What stands in quotes is not a directive, before or after the real one")
    func quoted() {
        #expect(parse("extension=\"max-age=3600\", max-age=1").seconds("max-age") == 1)
        #expect(parse("max-age=1, extension=\"max-age=3600, no-store\"").seconds("max-age") == 1)
        #expect(!parse("max-age=1, extension=\"a, no-store\"").contains("no-store"))
        #expect(!parse("extension=\"a\\\", no-store\", max-age=1").contains("no-store"))
        #expect(parse("extension=\"a\\\\\", no-store").contains("no-store"))
        #expect(parse("extension=\"never closed, no-store").contains("extension"))
    }

    @Test("Unknown directives mean nothing and hurt nothing")
    func unknown() {
        let control = parse("foobar, x=1, y=\"2\", max-age=3600")
        #expect(control.seconds("max-age") == 3600)
        #expect(control.argument("x") == .value("1"))
        #expect(control.argument("y") == .value("2"))
        #expect(control.argument("foobar") == CacheControl.Argument.none)
        #expect(control.argument("z") == nil)
    }

    @Test("Lines are one list, empty members are nothing, garbage spoils only itself")
    func lists() {
        #expect(parse("max-age=1", "no-store").directives.map(\.name) == ["max-age", "no-store"])
        #expect(parse(",, ,max-age=1,\t, no-store ,").directives.map(\.name) == ["max-age", "no-store"])
        #expect(parse("@@@, (x), no-store").directives.map(\.name) == ["no-store"])
        #expect(parse("=5, max-age=7").seconds("max-age") == 7)
        #expect(parse("no store, max-age=7").seconds("max-age") == 7)
        #expect(parse("").directives.isEmpty)
    }

    @Test("4.2.1: of several, the first counts")
    func duplicates() {
        #expect(parse("max-age=1, max-age=1800").seconds("max-age") == 1)
        #expect(parse("max-age=1800", "max-age=1").seconds("max-age") == 1800)
        #expect(parse("max-age=x, max-age=1").seconds("max-age") == nil)
    }

    @Test("5.2.2.4: no-cache is for the whole response or for the fields that it names")
    func fieldNames() {
        let both = parse("no-cache=\"Set-Cookie, X-A\", no-cache=b")
        #expect(both.fieldNames("no-cache") == ["set-cookie", "x-a", "b"])
        #expect(!both.isUnqualified("no-cache"))
        #expect(parse("no-cache=\"a\", no-cache").isUnqualified("no-cache"))
        #expect(parse("no-cache=\"\"").isUnqualified("no-cache"))
        #expect(parse("no-cache=").isUnqualified("no-cache"))
        #expect(parse("No-CaChE").isUnqualified("no-cache"))
    }
}
