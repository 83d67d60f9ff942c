import HTTPTypes
import PipelineImages
import Stages
import Testing

@testable import PipelineServer

@Suite("thumbor's paths are read in thumbor's order")
struct ThumborDialectTests {
    private let dialect = ThumborDialect(longestSide: 2000)

    private func signatures(_ options: String) throws -> [String] {
        try dialect.picture("\(options)/a.jpg"[...]).stages.map { $0.signature ?? "none" }
    }

    @Test("The signature is thumbor's")
    func signature() throws {
        // By libthumbor with the key MY_SECURE_KEY.
        let keys = try SigningKeys([.init(any: Array("MY_SECURE_KEY".utf8), salt: [])])
        let text = "300x200/smart/my.server.com/some/path/to/image.jpg"
        let signature = keys.signature(of: text, algorithm: .sha1)
        #expect(signature == "OHHMqHwGrH1gubkMMveC8Ireg7A=")
        #expect(keys.isValid(signature, of: text, algorithm: .sha1))
        #expect(!keys.isValid(signature, of: text))
        #expect(!keys.isValid(signature, of: text + "x", algorithm: .sha1))
        for spelling in [signature.dropLast() + "", signature + "=", "", "="] {
            #expect(!keys.isValid(spelling, of: text, algorithm: .sha1), "\(spelling)")
        }
    }

    @Test("A signed path has the signature of what follows it, and no query")
    func signed() throws {
        let keys = try SigningKeys([.init(secret: Array("sixteen bytes or more".utf8))])
        let path = ThumborDialect.path("fit-in/300x200", to: "b/a.jpg", signedWith: keys)
        let text = try dialect.signedText(of: DialectPath(path, isSigned: true))
        #expect(text.text == "fit-in/300x200/b%2Fa.jpg" && text.algorithm == .sha1)
        #expect(keys.isValid(try #require(text.signature), of: text.text, algorithm: text.algorithm))
        #expect(ThumborDialect.path("", to: "a.jpg", signedWith: nil) == "/thumbor/unsafe/a.jpg")
        let unsafe = #expect(throws: Problem.self) {
            _ = try dialect.signedText(of: DialectPath("/thumbor/unsafe/a.jpg", isSigned: true))
        }
        #expect(unsafe?.status == .forbidden)
        let query = #expect(throws: Problem.self) {
            _ = try dialect.signedText(of: DialectPath(path, query: "v=1", isSigned: true))
        }
        #expect(query?.status == .badRequest)
        #expect(try dialect.signedText(of: DialectPath("/thumbor/unsafe/a.jpg")).text == "a.jpg")
    }

    @Test(
        "Sources in all their spellings",
        arguments: [
            ("a.jpg", "a.jpg"), ("300x200/b/a.jpg", "b/a.jpg"), ("smart/https://h.test/a.jpg", "https://h.test/a.jpg"),
            ("https%3A%2F%2Fh.test%2Fa.jpg%3Fb=c", "https://h.test/a.jpg?b=c"), ("top", "top"),
            ("left%2Fa.jpg", "left/a.jpg"),
            ("filters:quality(5)/a%20b.jpg", "a b.jpg"), ("center/middle/filters:blur(1):blur(2)/c/a.jpg", "c/a.jpg"),
        ])
    func sources(path: String, source: String) throws {
        #expect(try dialect.picture(path[...]).source == source)
    }

    @Test(
        "Equal work has equal signatures",
        arguments: [
            ("300x200/center/middle", "300x200"), ("0300x0200", "300x200"), ("x200", "0x200"), ("300x", "300x0"),
            ("fit-in/300x200/left/top/smart", "fit-in/300x200"), ("fit-in/0x0", "0x0"), ("0x0:0x0/300x200", "300x200"),
            ("smart/filters:upscale():quality(5)", "filters:quality(7):upscale()"), ("trim", "trim:top-left:0"),
            ("300x200/smart/filters:focal(1x1:9x9)", "300x200/filters:focal(1x1:9x9)"),
            ("300x200/filters:focal(1x1:9x9):focal(5x5:6x6)", "300x200/filters:focal(5x5:6x6):focal(1x1:9x9)"),
            ("9x9/filters:blur(4)", "9x9/filters:blur( 4 , 4.0 )"), ("filters:rotate(-90)", "filters:rotate(270)"),
            (
                "filters:rotate(360):brightness(0):contrast(0):rgb(0,0,0):proportion(1)",
                "filters:strip_exif():strip_icc()"
            ),
            ("filters:fill(FF0000)", "filters:fill(red)"), ("filters:fill(f00,false)", "filters:fill(ff0000)"),
            ("filters:blur(1):no_upscale()", "filters:blur(1)"), ("filters:fill(%72ed)", "filters:fill(red)"),
        ])
    func equal(path: String, same: String) throws { #expect(try signatures(path) == signatures(same)) }

    @Test(
        "Other work has other signatures",
        arguments: [
            ("300x200/left", "300x200/right"), ("300x200/top", "300x200"), ("300x200", "200x300"),
            ("-300x200", "300x200"),
            ("300x-200", "300x200"), ("fit-in/300x200", "full-fit-in/300x200"), ("adaptive-fit-in/9x8", "fit-in/9x8"),
            ("1x1:9x9", "1x1:9x8"), ("trim:top-left:5", "trim"), ("trim:bottom-right", "trim"), ("origx200", "0x200"),
            ("9x9/filters:stretch()", "9x9"), ("9x9/filters:no_upscale()", "9x9"), ("9x9/smart", "9x9"),
            ("filters:blur(1):grayscale()", "filters:grayscale():blur(1)"),
            ("filters:blur(1):blur(1)", "filters:blur(1)"),
            ("filters:contrast(5)", "filters:brightness(5)"), ("filters:fill(red,1)", "filters:fill(red)"),
            ("filters:round_corner(5,0,0,0,1)", "filters:round_corner(5,0,0,0)"),
            ("filters:rotate(90)", "filters:rotate(270)"),
            ("filters:proportion(0.5)", "filters:proportion(0.6)"), ("filters:saturation(1)", "filters:saturation(0)"),
        ])
    func different(path: String, other: String) throws { #expect(try signatures(path) != signatures(other)) }

    @Test("Filters that don't change pixels are in the request, and the last of each counts")
    func output() throws {
        let request = try dialect.picture(
            "filters:quality(70):format(png):max_bytes(900):quality(60):format(WebP):max_bytes(800)/a.jpg")
        #expect(request.quality == 60 && request.format == .webp && request.maxBytes == 800)
        let plain = try dialect.picture("a.jpg")
        #expect(plain.quality == nil && plain.format == nil && plain.maxBytes == nil)
    }

    @Test("The stages of a path")
    func stages() throws {
        func names(_ path: String) throws -> [String] { try dialect.picture("\(path)/a.jpg"[...]).stages.map(\.name) }
        #expect(try names("trim/1x1:9x9/300x200") == ["ThumborTrim", "ThumborTransform"])
        #expect(try names("1x1:9x9/300x200/filters:blur(1)") == ["ThumborCrop", "ThumborTransform"])
        #expect(try names("300x200") == ["ThumborTransform"])
    }

    @Test(
        "What is malformed, unknown or out of range is a 400",
        arguments: [
            "debug/a.jpg", "meta/a.jpg", "2001x5/a.jpg", "99999999999999999999x5/a.jpg", "trim:50/a.jpg",
            "trim:x/a.jpg",
            "trim:top-left:500/a.jpg", "trim:top-left:5:6/a.jpg", "1x1:9x/a.jpg", "1x1:9x999999999/a.jpg", "300x200/",
            "",
            "filters:quality(5)", "filters:quality(5/a.jpg", "filters:quality/a.jpg", "filters:/a.jpg",
            "filters:(5)/a.jpg",
            "filters:quality(0)/a.jpg", "filters:quality(101)/a.jpg", "filters:quality()/a.jpg",
            "filters:quality(5,6)/a.jpg",
            "filters:quality(-5)/a.jpg", "filters:watermark(a.png,repeat,0,50)/a.jpg", "filters:equalize()/a.jpg",
            "filters:autojpg()/a.jpg", "filters:sharpen(2,1,true)/a.jpg", "filters:max_age(5)/a.jpg",
            "filters:noise(5)/a.jpg",
            "filters:rotate(45)/a.jpg", "filters:rotate(x)/a.jpg", "filters:blur(0)/a.jpg", "filters:blur(2,-1)/a.jpg",
            "filters:format(bmp)/a.jpg", "filters:format(tif)/a.jpg", "filters:max_bytes(0)/a.jpg",
            "filters:proportion(0)/a.jpg", "filters:proportion(1.5)/a.jpg", "filters:fill(%23ff0000)/a.jpg",
            "filters:fill(blur)/a.jpg", "filters:fill(auto)/a.jpg", "filters:fill(ff000080,true)/a.jpg",
            "filters:background_color(transparent)/a.jpg", "filters:fill(red,maybe)/a.jpg",
            "filters:focal(1x1:1x9)/a.jpg",
            "filters:focal(9x1:1x9)/a.jpg", "filters:focal(a)/a.jpg", "filters:round_corner(0,0,0,0)/a.jpg",
            "filters:round_corner(5,0,0)/a.jpg", "filters:round_corner(5,0,0,256)/a.jpg", "filters:stretch(1)/a.jpg",
            "filters:quality(5)grayscale()/a.jpg", "filters:quality(5))/a.jpg", "filters:%zz(5)/a.jpg",
            "smart/300x200/a.jpg", "300x200/fit-in/a.jpg", "300x200/200x100/a.jpg", "top/left/a.jpg", "%73mart/a.jpg",
            "filters:quality(5)/smart/a.jpg", "filters:quality(5)/filters:quality(5)/a.jpg", "%zz/a.jpg",
            "trim/1x1:9x9/300x200/filters:focal(1x1:5x5)/a.jpg",
        ])
    func refusals(path: String) {
        let problem = #expect(throws: Problem.self) { _ = try dialect.picture(path[...]) }
        #expect(problem?.status == .badRequest)
    }

    @Test("A filter that the server doesn't have is named", arguments: ["equalize", "autojpg"])
    func named(filter: String) {
        let problem = #expect(throws: Problem.self) { _ = try dialect.picture("filters:\(filter)()/a.jpg"[...]) }
        #expect(problem?.detail.contains("no filter \(filter)") == true)
    }

    @Test("A path has at most 50 filters")
    func many() throws {
        func path(_ count: Int) -> Substring {
            "filters:\(Array(repeating: "blur(1)", count: count).joined(separator: ":"))/a.jpg"[...]
        }
        _ = try dialect.picture(path(50))
        #expect(throws: Problem.self) { _ = try dialect.picture(path(51)) }
    }
}
