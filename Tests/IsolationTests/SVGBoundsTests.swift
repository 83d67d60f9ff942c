import Foundation
import Pipeline
import PipelineImages
import PipelineIsolation
import TestFixtures
import Testing

@Suite("The cost of an SVG", .onLinux)
struct SVGBoundsTests {
    /// An SVG and what is said of it.
    struct Costly: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let svg: [UInt8]
        var code = LoadError.Code.tooMuchTime

        init(_ what: String, _ content: String, _ code: LoadError.Code = .tooMuchTime) {
            testDescription = what
            svg = SVGBoundsTests.svg(content)
            self.code = code
        }
    }

    private static func svg(_ content: String) -> [UInt8] {
        Array(
            """
            <svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="40" height="40">
            \(content)</svg>
            """.utf8)
    }

    private static func styled(_ rules: String, _ content: String) -> String { "<style>\(rules)</style>\(content)" }

    private static func times(_ count: Int, _ text: String) -> String { String(repeating: text, count: count) }

    private static func text(_ length: Int) -> String { "<text y='9'>\(times(length, "a"))</text>" }

    /// A picture as an element. A JPEG's size may be claimed.
    private static func image(_ bytes: [UInt8]) -> String {
        "<image width='40' height='40' xlink:href='data:image/jpeg;base64,\(Data(bytes).base64EncodedString())'/>"
    }

    private static func jpeg(claiming size: UInt16) async throws -> [UInt8] {
        let dot = DecodedImage(size: 8, layout: .rgb, pixels: [UInt8](repeating: 200, count: 192))
        var bytes = try await EncodedImage(encoding: dot, as: .jpeg).bytes
        let frame = try #require(
            bytes.firstRange(of: [0xff, 0xc0])?.lowerBound ?? bytes.firstRange(of: [0xff, 0xc2])?.lowerBound)
        for place in [frame + 5, frame + 7] {
            bytes[place] = UInt8(size >> 8)
            bytes[place + 1] = UInt8(size & 0xff)
        }
        return bytes
    }

    /// Draws SVGs in one worker, and returns the error of each.
    private func errors(_ files: [[UInt8]], limits: ImageLimits = ImageLimits()) async throws -> [LoadError?] {
        let pool = try await Corpus.pool(workers: 1)
        let codecs = try ImageCodecs.standard.adding(.svg).isolated(in: pool)
        var errors: [LoadError?] = []
        for file in files {
            do {
                _ = try await DecodedImage(decoding: file, codecs: codecs, limits: limits)
                errors.append(nil)
            } catch { errors.append(error as? LoadError) }
        }
        #expect(pool.statistics.deaths == 0)
        await pool.close()
        return errors
    }

    private static let deep = times(190, "<g>") + times(5000, "<g/>") + times(190, "</g>")

    @Test(
        "Style sheets, texts and attributes that take librsvg long are refused by what there is too much of",
        arguments: [
            Costly("style", styled(times(2000, ".a{fill:red}"), times(60_000, "<g/>"))),
            Costly("style", styled("<![CDATA[\(times(2000, ".a{fill:red}"))]]>", times(60_000, "<g/>"))),
            Costly("style", styled(times(2000, "a,"), times(60_000, "<g/>"))),
            Costly("style", styled(times(120, "x g{fill:red}"), deep)),
            Costly("style", styled("x~g{fill:red}", times(15_000, "<g/>"))),
            Costly("style", styled(":nth-child(7n){fill:red}", times(15_000, "<g/>"))),
            Costly("style", styled("G:FIRST-of-type{fill:red}", times(15_000, "<g/>"))),
            Costly("style", styled(times(2000, ".x{}"), times(100, "<g class='\(times(4500, "yy "))'/>"))),
            Costly("attributes", "<g \((0..<71_000).map { "a\($0)='1' " }.joined())/>"),
            Costly("characters", text(2501)), Costly("characters", "<text>漢\(times(2500, "&#x6f22;"))</text>"),
            Costly("characters", "<text>\(times(1251, "漢<!-- -->a"))</text>"),
            Costly(
                "characters", "<s:text xmlns:s='http://www.w3.org/2000/svg'><tspan>\(times(2501, "a"))</tspan></s:text>"
            ),
            Costly("lengths", times(9, text(2450))), Costly("elements", times(500_001, "<g/>"), .tooMuchMemory),
            Costly("bytes", times(16_000_000, " "), .tooManyBytes),
        ])
    func refused(_ costly: Costly) async throws {
        let error = try await errors([costly.svg])[0]
        #expect(error?.code == costly.code)
        #expect(error?.message.contains(costly.testDescription) == true, "\(error?.message ?? "none")")
    }

    @Test("Texts that entities bring count too")
    func entities() async throws {
        let document = """
            <!DOCTYPE svg [<!-- ' --><!ENTITY a "\(Self.times(900, "a>"))">]>
            """
        let error = try await errors([Array(document.utf8) + Self.svg("<text>&a;&a;</text>")])[0]
        #expect(error?.message.contains("characters") == true)
    }

    @Test("UTF-16 counts as UTF-8 does")
    func wide() async throws {
        let text = String(decoding: Self.svg(Self.text(2501)), as: UTF8.self)
        let wide: [UInt8] =
            [0xff, 0xfe] + text.utf16.flatMap { unit -> [UInt8] in [UInt8(unit & 0xff), UInt8(unit >> 8)] }
        #expect(try await errors([wide])[0]?.message.contains("characters") == true)
    }

    @Test("Files near the bounds are drawn")
    func allowed() async throws {
        let files = [
            Self.styled(Self.times(1500, ".a { fill: red; stroke: none }\n"), Self.times(30_000, "<g/>")),
            Self.styled(Self.times(80, "x g{fill:red}"), Self.deep),
            Self.styled("x~g{fill:red}", Self.times(13_000, "<g/>")),
            Self.styled("[class~='x'] /* ~ */ {fill:red}", Self.times(15_000, "<g/>")), Self.text(2450),
            "<text>\(Self.times(20, "<tspan>\(Self.times(1500, "a"))</tspan>"))</text>",
            "<desc>\(Self.times(5000, "a"))</desc>", "<g \((0..<2000).map { "a\($0)='1' " }.joined())/>",
        ].map(Self.svg)
        #expect(try await errors(files).allSatisfy { $0 == nil })
    }

    @Test("Pictures in an SVG count against the limits of pixels")
    func pictures() async throws {
        let huge = try await Self.svg(Self.image(Self.jpeg(claiming: 8000)))
        let nested = Self.svg(
            "<image xlink:href='data:image/svg+xml;base64,\(Data(huge).base64EncodedString())' width='9' height='9'/>")
        for file in [huge, nested] {
            #expect(try await errors([file])[0]?.code == .tooManyPixels)
        }
        let small = try await Self.svg(Self.times(20, Self.image(Self.jpeg(claiming: 8))))
        let many = try await Self.svg(Self.image(Self.jpeg(claiming: 8)) + Self.image(Self.jpeg(claiming: 60)))
        let limits = ImageLimits(pixels: 3000)
        #expect(try await errors([small, many], limits: limits).map { $0?.code } == [nil, .tooManyPixels])
    }
}
