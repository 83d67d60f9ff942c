import Foundation
import HTTPTypes
import PipelineTesting
import TestFixtures
import Testing

@Suite("pipectl and SVG", .onLinux)
struct DrawingTests {
    private let pipectl: Pipectl

    init() throws { pipectl = try Pipectl() }

    @Test("A compressed SVG is read as any other")
    func compressed() async throws {
        try pipectl.add("good/svg-shapes.svg", as: "a.svg")
        let result = try await pipectl.shell(
            """
            gzip -c a.svg >a.svgz && pipectl info a.svgz && pipectl convert a.svgz b.png && pipectl convert a.svg c.png
            cmp b.png c.png && mkdir in && mv a.svgz in && pipectl batch in -o out/{name}.png && cmp out/a.png c.png
            """)
        #expect(result.status == 0, "\(result.text)")
        #expect(result.text.contains("a.svgz: 312×442, svg+xml"))
    }

    @Test("A compressed SVG with any declaration of its compression is read from a server")
    func served() async throws {
        try pipectl.add("good/svg-shapes.svg", as: "a.svg")
        _ = try await pipectl.shell("gzip a.svg")
        let bytes = [UInt8](try Data(contentsOf: pipectl.folder.appending(path: "a.svg.gz")))
        let origin = try ScriptedOrigin { request in
            var fields: HTTPFields = [.contentType: "image/svg+xml"]
            if request.target == "/b" { fields[.contentEncoding] = "gzip" }
            return .init(headers: fields, body: bytes)
        }
        for path in ["/a", "/b"] {
            let result = try await pipectl.shell("pipectl info \(origin.url(path).absoluteString)")
            #expect(result.status == 0 && result.text.contains("312×442, svg+xml"), "\(result.text)")
        }
    }

    @Test("What is compressed and damaged, too large or not an SVG is refused as that")
    func refused() async throws {
        try pipectl.add("good/svg-shapes.svg", as: "a.svg")
        let result = try await pipectl.shell(
            """
            gzip -c a.svg | head -c 500 >cut.svgz; { printf '<svg>'; head -c 20000000 /dev/zero; } | gzip >bomb.svgz
            { printf '<svg>'; head -c 20000000 /dev/zero; } | gzip | head -c -4 >liar.svgz; printf '\\1\\0\\0\\0' >>liar.svgz
            echo text | gzip >text.svgz; printf '\\037\\213\\010' >empty.svgz
            for name in cut bomb liar text empty; do pipectl info $name.svgz 2>&1; done
            """)
        // The helper may say something of its own at its end: AddressSanitizer lists fontconfig's leaks.
        let lines = result.text.split(separator: "\n").filter { $0.hasPrefix("pipectl: ") }
        let words = ["damaged or cut off", "20000005 bytes", "damaged", "is not an SVG", "damaged"]
        #expect(lines.count == words.count, "\(result.text)")
        for (line, word) in zip(lines, words) { #expect(line.contains(word)) }
    }

    @Test("Characters that the fonts lack are a warning, and stand in the trace")
    func missingCharacters() async throws {
        let svg = """
            <svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><text y="30">漢a字</text></svg>
            """
        try Data(svg.utf8).write(to: pipectl.folder.appending(path: "a.svg"))
        let said = "The fonts lack 2 characters of the text, such as U+5B57; they are drawn as boxes."
        for command in ["thumb a.svg -s 20 -o b.png", "convert a.svg c.png", "batch a.svg -o d.png"] {
            let result = try await pipectl.shell("pipectl \(command) 2>&1")
            #expect(result.status == 0)
            #expect(result.text.contains("warning: a.svg: \(said)"), "\(result.text)")
        }
        let trace = try await pipectl.shell("pipectl load a.svg --trace -o e.png 2>&1")
        #expect(trace.text.contains("image/svg+xml, 40×40. \(said)"), "\(trace.text)")
    }

    @Test("Pictures in it that can't be read are a warning")
    func missingPictures() async throws {
        let svg = """
            <svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><image href="data:image/x-icon;base64,AAABAA=="
            width="9" height="9"/><text y="30">漢</text></svg>
            """
        try Data(svg.utf8).write(to: pipectl.folder.appending(path: "a.svg"))
        let result = try await pipectl.shell("pipectl thumb a.svg -s 20 -o b.png 2>&1")
        let said = "it is drawn as a box. A picture in the drawing can't be read and is left out."
        #expect(result.text.contains(said), "\(result.text)")
    }
}
