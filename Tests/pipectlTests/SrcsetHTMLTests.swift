import Foundation
import Pipeline
import Testing

@testable import PipelineCommand

@Suite("pipectl srcset --html")
struct SrcsetHTMLTests {
    private let pipectl: Pipectl

    init() throws {
        pipectl = try Pipectl()
        try pipectl.add("good/jpeg-progressive-444.jpg", as: "a b,c.jpg")
    }

    @Test("prints a picture element with a source for each format but the last")
    func picture() async throws {
        let result = try await pipectl.shell(
            "pipectl srcset 'a b,c.jpg' -w 64,128 -f webp,jpg --html --sizes '(width > \"1px\") 50vw'")
        let sizes = "sizes=\"(width &gt; &quot;1px&quot;) 50vw\""
        #expect(
            result.text == """
                <picture>
                  <source type="image/webp" srcset="a%20b%2Cc-64.webp 64w, a%20b%2Cc-128.webp 128w" \(sizes)>
                  <img src="a%20b%2Cc-128.jpg" srcset="a%20b%2Cc-64.jpg 64w, a%20b%2Cc-128.jpg 128w" \(sizes) width="128" height="94" alt="">
                </picture>

                """, "\(result.errors)")
    }

    @Test("prints an img for one format, and refuses what would leave files out")
    func image() async throws {
        let result = try await pipectl.shell("pipectl srcset 'a b,c.jpg' -w 64 -f webp --html -y")
        #expect(
            result.text.hasPrefix("<img src=\"a%20b%2Cc-64.webp\" srcset=\"a%20b%2Cc-64.webp 64w\" sizes=\"100vw\""))
        for options in ["--html --json", "--html -n", "--html --newer", "--sizes 1px"] {
            #expect(try await pipectl.shell("pipectl srcset 'a b,c.jpg' -w 64 \(options)").status == 2)
        }
    }

    @Test(
        "a path becomes a relative URL",
        arguments: [
            ("out/a-1.jpg", "out/a-1.jpg"), ("javascript:x\"<&>'.jpg", "javascript%3Ax%22%3C%26%3E%27.jpg"),
            ("//host/a.jpg", "/host/a.jpg"), ("/a?b#c%.jpg", "/a%3Fb%23c%25.jpg"), ("ü.jpg", "%C3%BC.jpg"),
        ])
    func url(path: String, expected: String) { #expect(PictureElement.url(path) == expected) }
}
