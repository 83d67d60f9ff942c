import HTTPTypes
import Stages
import Testing

@testable import PipelineServer

@Suite("imgproxy's paths are read into values, then made into stages in one order")
struct ImgproxyDialectTests {
    private let dialect: ImgproxyDialect

    init() throws {
        dialect = try ImgproxyDialect(presets: [
            "small": "rs:fill:10:10/q:60", "sharp": "sh:1/pr:small", "round": "w:20/pr:about", "about": "h:30/pr:round",
            "wide": Array(repeating: "w:1", count: 60).joined(separator: "/"),
        ])
    }

    @Test("A preset that can't be read is refused when the server starts, with its name")
    func presetsAreChecked() throws {
        let bomb = [
            "wide": Array(repeating: "pr:wider:wider:wider", count: 10).joined(separator: "/"),
            "wider": Array(repeating: "w:1", count: 10).joined(separator: "/"),
        ]
        for presets in [["typo": "rs:fil:1:1"], ["missing": "pr:nothing"], bomb] {
            let error = #expect(throws: ServerConfigurationError.self) { _ = try ImgproxyDialect(presets: presets) }
            #expect(error?.description.contains(presets.keys.min() ?? "") == true)
        }
        for options in ["20x20,nonsense", "0x0", "q=900"] {
            #expect(throws: ServerConfigurationError.self) { _ = try ThumbDialect(presets: ["small": options]) }
        }
        _ = try ThumbDialect(presets: ["soft": "grey,blur=2"])
    }

    private func signatures(_ path: String) throws -> [String] {
        try dialect.picture("\(path)/plain/a.jpg").stages.map { $0.signature ?? $0.name }
    }

    @Test("Each kind of work has its place")
    func order() throws {
        let path = "bg:255:0:0/pd:4/sh:1/bl:2/rs:fill:30:20/c:100:0.5:noea/fl:1:1/rot:90/plain/local:///a.jpg@webp"
        let request = try dialect.picture(path[...])
        #expect(request.source == "a.jpg" && request.format == .webp)
        #expect(
            request.stages.map(\.name) == [
                "Rotate", "Flip", "Flip", "ImgproxyCrop", "ImgproxyResize", "Blur", "ImgproxySharpen", "ImgproxyCanvas",
                "Flatten",
            ])
    }

    @Test("The order of options makes no difference")
    func permutations() throws {
        let options = [
            "w:50", "h:40", "rt:fill", "el:1", "g:no:5:6", "c:300:200:ce", "rot:90", "fl:1", "bl:2", "sh:1",
            "bg:f00", "dpr:2", "pd:3", "ex:1:so", "z:1.5", "mw:20",
        ]
        let expected = try signatures(options.joined(separator: "/"))
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<100 {
            let path = options.shuffled(using: &generator).joined(separator: "/")
            #expect(try signatures(path) == expected, "\(path)")
        }
    }

    @Test(
        "The last of equal options counts, whichever of its names it has",
        arguments: [
            ("w:50/width:60", "w:60"), ("h:50/height:60", "h:60"), ("rs:fill:9:8/resize:fit:7:6", "rs:fit:7:6"),
            ("rs:fill:9:8/size:7:6", "rs:fill:7:6"), ("rt:fill/resizing_type:force", "rt:force"),
            ("dpr:2/dpr:3", "dpr:3"), ("el:1/enlarge:0", "el:0"), ("g:no/gravity:so", "g:so"),
            ("g:no:5:6/g:so", "g:so:5:6"), ("g:no:5:6/g:sm", "g:sm"), ("c:9:8/crop:7:6", "c:7:6"),
            ("rot:90/rotate:180", "rot:180"), ("fl:1:1/flip:0", "fl::1"), ("bl:2/blur:3", "bl:3"),
            ("sh:2/sharpen:3", "sh:3"), ("bg:f00/background:0:0:255", "bg:0000ff"), ("mw:5/min-width:6", "mw:6"),
            ("mh:5/min-height:6", "mh:6"), ("z:2/zoom:3:4", "z:3:4"), ("ex:1/extend:0", "ex:0"),
            ("exar:1/extend_aspect_ratio:0", "extend_ar:0"), ("pd:1:2:3:4/padding:5", "pd:5"),
            ("rs:fill:9:8/rs::7", "rs:fill:7:8"), ("s:9:8:1/s:::0", "s:9:8"),
        ])
    func lastCounts(path: String, same: String) throws { #expect(try signatures(path) == signatures(same)) }

    @Test(
        "What doesn't change the pixels is in the request",
        arguments: [
            ("q:70/quality:60", 60), ("q:70/q:0", nil), ("q:70/fq:webp:50/f:webp", 70), ("fq:jpg:40/f:webp", nil),
        ])
    func quality(options: String, quality: Int?) throws {
        #expect(try dialect.picture("\(options)/plain/a.jpg").quality == quality)
    }

    @Test("Formats have qualities of their own, whether the path or the client chooses the format")
    func formatQualities() throws {
        #expect(try dialect.picture("fq:webp:50:jpg:40/fq:jpg:0/f:webp/plain/a.jpg").qualities == [.webp: 50])
        #expect(try dialect.picture("fq:avif:50/plain/a.jpg").qualities == [.avif: 50])
    }

    @Test("A watermark comes last, and each of its options counts")
    func watermarks() throws {
        let mark = DecodedImage(size: PixelSize(square: 2), layout: .gray, pixels: [1, 2, 3, 4])
        let dialect = try ImgproxyDialect(watermark: Watermark(mark, opacity: 0.5))
        func signatures(_ options: String) throws -> [String?] {
            try dialect.picture("\(options)/plain/a.jpg").stages.map(\.signature)
        }
        #expect(try dialect.picture("wm:0.5/bg:fff/pd:4/plain/a.jpg").stages.last?.name == "ImgproxyMark")
        #expect(try signatures("wm:0.5/wm:0") == signatures("w:0"))
        #expect(try signatures("wm:0.5:soea/watermark:0.5::::0.1") == signatures("wm:0.5:soea:::0.1"))
        let all = ["wm:0.5", "wm:0.6", "wm:0.5:soea", "wm:0.5:re", "wm:0.5:ce:1", "wm:0.5:ce::1", "wm:0.5:ce:::0.5"]
        #expect(Set(try all.map(signatures)).count == all.count)
        for wrong in ["wm:2", "wm:0.5:ch", "wm:0.5:sm", "wm:0.5:fp:0.5:0.5", "wm:0.5:re:-1", "wm:0.5:ce:0:0:1:1"] {
            #expect(throws: Problem.self, "\(wrong)") { try signatures(wrong) }
        }
    }

    @Test("Trimming comes first")
    func trimming() throws {
        let path = "rot:90/c:5:5/t:10.5:f00:1:0"
        #expect(try dialect.picture("\(path)/plain/a.jpg").stages.first?.name == "ImgproxyTrim")
        #expect(try signatures("t:10/trim:") == signatures("w:0"))
        #expect(try Set(["t:10", "t:11", "t:10:fff", "t:10::1", "t:10:::1"].map(signatures)).count == 5)
    }

    @Test("A server of presets alone takes no options, and its paths may name none")
    func presetsOnly() throws {
        let dialect = try ImgproxyDialect(presets: ["small": "w:20", "default": "q:50"], givesPresetsOnly: true)
        func picture(_ path: Substring) throws -> PictureRequest { try dialect.picture(path) }
        #expect(try picture("small/plain/a.jpg").quality == 50)
        #expect(
            try picture("small/YS5qcGc").stages.map(\.signature)
                == self.dialect.picture("w:20/plain/a").stages.map(\.signature))
        #expect(try picture("plain/a.jpg").source == "a.jpg" && picture("YS5qcGc").source == "a.jpg")
        for path: Substring in [
            "w:20/plain/a.jpg", "pr:small/plain/a.jpg", "small/w:20/plain/a.jpg", "large/plain/a.jpg",
        ] {
            #expect(throws: Problem.self, "\(path)") { try picture(path) }
        }
    }

    @Test("A base is put before every source")
    func base() throws {
        let dialect = try ImgproxyDialect(baseURL: "https://a.test/photos/")
        #expect(try dialect.picture("plain/b.jpg").source == "https://a.test/photos/b.jpg")
        #expect(try dialect.picture("YS5qcGc").source == "https://a.test/photos/a.jpg")
    }

    @Test("An encrypted source is read with the server's key")
    func encrypted() throws {
        // openssl enc -aes-256-cbc of the text, with its initialization vector in front.
        let key = [UInt8](0..<32)
        let source = "http://a.test/b.jpg"
        let message = "AAECAwQFBgcICQoLDA0OD3TyrRo6S_h0ZZ57rA21TKbccOkmfe08PepHQ-iE5Yzu"
        let dialect = try ImgproxyDialect(sourceKey: key)
        #expect(try dialect.picture("w:1/enc/\(message).webp").source == source)
        #expect(try dialect.picture("enc/\(message)").format == nil)
        for wrong in [
            "enc/AAAA", "enc/", "enc/\(message.dropLast(22))", "enc/\(message.reversed().map(String.init).joined())",
        ] {
            #expect(throws: Problem.self, "\(wrong)") { try dialect.picture(wrong[...]) }
        }
        #expect(throws: Problem.self) { try self.dialect.picture("enc/\(message)") }
        #expect(throws: ServerConfigurationError.self) { try ImgproxyDialect(sourceKey: [1, 2, 3]) }
    }

    @Test("The extension after the source counts more than the option, and an empty one says nothing")
    func format() throws {
        #expect(try dialect.picture("f:webp/f:png/plain/a.jpg").format == .png)
        #expect(try dialect.picture("plain/a.jpg@jpg").format == .jpeg)
        #expect(try dialect.picture("f:webp/plain/a.jpg@").format == .webp)
        #expect(try dialect.picture("ext:webp/plain/a.jpg@avif").format == .avif)
        #expect(try dialect.picture("mb:100/mb:0/exp:0/plain/a.jpg").maxBytes == nil)
        #expect(try dialect.picture("exp:5/exp:0/plain/a.jpg").expires == nil)
        #expect(try dialect.picture("exp:5/plain/a.jpg").expires == 5)
    }

    @Test("Presets hold presets, and one that names itself ends")
    func presets() throws {
        #expect(try signatures("pr:sharp") == signatures("sh:1/rs:fill:10:10"))
        #expect(try dialect.picture("preset:sharp:round/plain/a.jpg").quality == 60)
        #expect(try signatures("pr:round") == signatures("w:20/h:30"))
    }

    @Test(
        "Sources in all their spellings",
        arguments: [
            ("plain/a%2Ejpg", "a.jpg"), ("plain/http:/a.test/b.jpg", "http://a.test/b.jpg"),
            ("w:1/plain/https:/a.test/b.jpg", "https://a.test/b.jpg"), ("plain/local:/a.jpg", "a.jpg"),
            ("plain/https://a.test/plain/b:/c.jpg", "https://a.test/plain/b:/c.jpg"),
            ("plain/http%3A%2F%2Fa.test%2Fb.jpg%3Fc=d", "http://a.test/b.jpg?c=d"), ("YS5qcGc", "a.jpg"),
            ("YS5/qcGc", "a.jpg"), ("YS5qcGc=.png", "a.jpg"), ("YS5qcGc.png/puppy.jpg", "a.jpg"),
            ("w%3a1/YS5qcGc", "a.jpg"),
        ])
    func sources(path: String, source: String) throws {
        #expect(try dialect.picture(path[...]).source == source)
    }

    @Test(
        "What is malformed or out of range is a 400",
        arguments: [
            "rs:auto2:1:1", "rs:fit:1:1:0:1:ce:0:0:9", "w:9999", "w:-1", "w:", "w:1:2", "h:1.5", "el:maybe", "dpr:0",
            "dpr:11", "dpr:nan", "dpr:1e1", "z:0", "z:", "z:1:2:3", "g:", "g:re", "g:sm:1", "g:fp", "g:fp:0.5",
            "g:fp:2:0", "g:no:1:2:3", "g:no:--1", "c:", "c:-1", "c:1:1:re", "c:1:1:no:1:2:3", "ex:1:sm", "ex:",
            "exar:2",
            "pd:-1", "pd:1:2:3:4:5", "pd:99999", "rot:45", "rot:-90", "rot:99999999999999999999", "fl:1:1:1", "bl:-1",
            "bl:101", "sh:x", "bg:ff", "bg:gggggg", "bg:+12345", "bg:256:0:0", "bg:1:2", "q:101", "q:", "fq:jpg",
            "fq:xyz:5", "mb:-1", "f:bmp", "f:", "exp:x", "fn:*:1", "fn:a:b", "cb:1:2", "ar:0", "sm:0",
            "kcr:1", "ph:1", "eth:1", "raw:1", "pix:2", "wm:0.5", "wm:", "t:-1", "t:256", "t:1:red",
            "t:1:f00:2", "skp:svg", "skp:", "msr:5",
            "pr:none",
            "pr:", "pr:wide:wide", "w%3A9999", "nothing:1",
        ])
    func refusals(option: String) {
        let problem = #expect(throws: Problem.self) { _ = try dialect.picture("\(option)/plain/a.jpg") }
        #expect(problem?.status == .badRequest)
    }

    @Test(
        "A source that can't be read is a 400",
        arguments: [
            "", "w:1", "plain", "plain/", "plain/a@b@c", "plain/%zz", "***", "YS5=qcGc", "YS5qcGc.png.jpg", ".png",
            "http:/a.test/b.jpg", "fill/300/200/a", "plain/a@bmp", "YS5qcGc.png/x.jpg/y.jpg",
        ])
    func sourceRefusals(path: String) {
        let problem = #expect(throws: Problem.self) { _ = try dialect.picture(path[...]) }
        #expect(problem?.status == .badRequest)
    }

    @Test(
        "Options that ask for what is done anyway change nothing",
        arguments: [
            "ar:1", "sm:true", "scp:t", "kcr:0", "ph:0", "eth:f", "raw:0", "pix:1", "wm:0", "t:", "cb:5", "rot:0",
            "rs:", "fn:",
        ])
    func withoutEffect(option: String) throws { #expect(try signatures(option) == signatures("w:0")) }

    @Test("Colours become sRGB's unless the profile is to stay")
    func colors() throws {
        #expect(try dialect.picture("w:0/plain/a.jpg").gamut == .sRGB)
        #expect(try dialect.picture("scp:1/plain/a.jpg").gamut == .sRGB)
        #expect(try dialect.picture("scp:0/plain/a.jpg").gamut == nil)
        let kept = try dialect.picture("scp:0/rs:fill:50:40/c:60:60/sh:0.5/ex:1/plain/a.jpg")
        #expect(kept.stages.allSatisfy { ($0 as? any ColorKeeping)?.keepsColors == true })
    }
}
