import Foundation
import Pipeline
import PipelineImages
import PipelineIsolation
import TestFixtures
import Testing

@Suite("Text in an SVG", .onLinux)
struct SVGTextTests {
    private static func svg(_ text: String) -> [UInt8] {
        Array(
            """
            <svg xmlns="http://www.w3.org/2000/svg" width="200" height="60">\(text)</svg>
            """.utf8)
    }

    private static func line(_ text: String, _ style: String = "") -> [UInt8] {
        svg("<text x='4' y='44' font-size='32' \(style)>\(text)</text>")
    }

    /// Draws SVGs one after the other in one worker, and expects that it is refused no system call.
    private func draw(_ files: [[UInt8]]) async throws -> [[UInt8]] {
        let pool = try await Corpus.pool(workers: 1)
        let codecs = try ImageCodecs.standard.adding(.svg).isolated(in: pool)
        var pictures: [[UInt8]] = []
        for file in files {
            pictures.append(try await DecodedImage(decoding: file, codecs: codecs).withPixels { Array($0) })
        }
        #expect(pool.statistics.refusedCalls == 0, "call \(pool.statistics.lastRefusedCall)")
        #expect(pool.statistics.deaths == 0)
        await pool.close()
        return pictures
    }

    /// The columns from the first to the last with ink.
    private func width(_ picture: [UInt8]) -> Int {
        let columns = Set(stride(from: 3, to: picture.count, by: 4).filter { picture[$0] > 0 }.map { $0 / 4 % 200 })
        return (columns.max() ?? 0) - (columns.min() ?? 0)
    }

    @Test("It is drawn with letters of their own widths")
    func letters() async throws {
        let widths = try await draw([Self.line("iiii"), Self.line("MMMM"), Self.line("")]).map(width)
        #expect(widths[2] == 0)
        #expect(widths[0] > 20)
        #expect(widths[1] > 2 * widths[0])
    }

    @Test("A font that one SVG wants far too large is drawn all the same, and in the next one")
    func largestFont() async throws {
        let normal = Self.line("Hamburg", "font-family='serif'")
        // librsvg scales it twice.
        let large = Self.svg(
            "<path id='p' d='M0 0 H2'/><g transform='scale(100)'><text font-size='32' font-family='serif'>"
                + "<textPath href='#p'>a</textPath> b</text></g>")
        let pool = try await Corpus.pool(workers: 1)
        let codecs = try ImageCodecs.standard.adding(.svg).isolated(in: pool)
        let first = try await DecodedImage(decoding: normal, codecs: codecs)
        let started = pool.statistics.started
        // A font that is in use fails, in this worker for good.
        _ = try await DecodedImage(decoding: large, codecs: codecs)
        #expect(pool.statistics.started == started + 1)
        #expect(try await DecodedImage(decoding: normal, codecs: codecs) == first)
        _ = try? await DecodedImage(decoding: large, codecs: codecs)
        #expect(try await DecodedImage(decoding: normal, codecs: codecs) == first)
        #expect(pool.statistics.deaths == 0)
        await pool.close()
    }

    @Test("Families, weights and slants differ, and monospaced letters are equally wide")
    func styles() async throws {
        let styles = [
            "font-family='sans-serif'", "font-family='serif'", "font-family='monospace'", "font-weight='bold'",
            "font-style='italic'",
        ]
        #expect(Set(try await draw(styles.map { Self.line("Hamburg", $0) })).count == styles.count)
        let common = [("Times New Roman", "serif"), ("Courier", "monospace"), ("Arial", "sans-serif")]
        for (name, generic) in common {
            let pictures = try await draw([name, generic].map { Self.line("Hamburg", "font-family='\($0)'") })
            #expect(pictures[0] == pictures[1], "\(name)")
        }
        let widths = try await draw(
            ["H...........H", "HMMMMMMMMMMMH"].map {
                Self.svg("<text x='4' y='44' font-size='24' font-family='monospace'>\($0)</text>")
            }
        ).map(width)
        #expect(widths[0] == widths[1])
    }

    @Test("It is the same in every process and after any other picture")
    func repeatable() async throws {
        let page = Self.svg(
            """
            <text x='4' y='20' font-size='18'>Sphinx of <tspan font-weight='bold'>black</tspan> quartz</text>
            <text x='4' y='50' font-size='18' font-family='serif' font-style='italic'>judge my <a>vow</a> é ß 漢</text>
            """)
        // More sizes and styles than Pango and cairo keep.
        let many = Self.svg(
            (1...700).map { index in
                "<text x='4' y='44' font-size='\(Double(index) / 7)' font-family='\(index % 2 == 0 ? "serif" : "Arial")'>"
                    + "Text \(index)</text>"
            }.joined())
        let alone = try await draw([page])
        let again = try await draw([page])
        let later = try await draw([many, page, many, page])
        #expect(alone[0].contains { $0 > 0 })
        #expect(alone[0] == again[0])
        #expect(alone[0] == later[1])
        #expect(alone[0] == later[3])
        #expect(later[0] == later[2])
    }

    @Test("Fonts that the machine has, and those that an SVG names or brings, aren't used")
    func ownFonts() async throws {
        let rule = """
            <style>@font-face { font-family: X; src: url(file:///usr/share/fonts/truetype/dejavu/DejaVuSerif.ttf) }</style>
            """
        let plain = try await draw([Self.line("Hamburg", "font-family='sans-serif'")])[0]
        let pictures = try await draw([
            Self.svg(rule + "<text x='4' y='44' font-size='32' font-family='X'>Hamburg</text>"),
            Self.line("Hamburg", "font-family='DejaVu Sans Condensed'"),
            Self.line("Hamburg", "font-family='Liberation Sans'"),
        ])
        for picture in pictures { #expect(picture == plain) }
    }

    @Test(
        "Characters that the fonts lack are counted, and only those",
        arguments: [
            ("漢字漢", 2, 0x5b57), ("&#x6f22;&#28450;", 1, 0x6f22), ("<tspan><![CDATA[漢]]></tspan>", 1, 0x6f22),
            ("\u{e000}", 1, 0xe000), ("é ß Ω Ж\u{ad}\u{200b}\u{a0}&#160;&amp;", 0, 0), ("<!-- 漢 -->", 0, 0),
        ])
    func missing(_ text: String, _ count: Int, _ first: Int) async throws {
        let pool = try await Corpus.pool(workers: 1)
        let decoder = try #require(ImageCodecs([.svg]).isolated(in: pool).codec(for: .svg)?.decoder)
        let page = String(decoding: Self.svg("<desc>漢</desc><text y='9'>\(text)</text>"), as: UTF8.self)
        let wide: [UInt8] =
            [0xfe, 0xff] + page.utf16.flatMap { unit -> [UInt8] in [UInt8(unit >> 8), UInt8(unit & 255)] }
        for file in [Array(page.utf8), wide] {
            let header = try decoder.header(of: file, cancellation: WorkCancellation())
            #expect(header.missingCharacters == count)
            #expect(header.missingCharacter == first)
        }
        await pool.close()
    }
}
