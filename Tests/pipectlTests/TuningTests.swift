import Foundation
import Testing

@Suite("pipectl and how results are written")
struct TuningTests {
    private let pipectl: Pipectl

    init() throws {
        pipectl = try Pipectl()
        try pipectl.add("good/jpeg-progressive-444.jpg", as: "photo.jpg")
    }

    @Test("A format before :- is that of standard output")
    func formatOfStandardOutput() async throws {
        let png = try await pipectl.shell("pipectl thumb photo.jpg -s 20 -o png:-")
        #expect(png.output.starts(with: [0x89, 0x50]), "\(png.errors)")
        let jpeg = try await pipectl.shell("pipectl convert - JPG:- <photo.jpg")
        #expect(jpeg.output.starts(with: [0xFF, 0xD8]), "\(jpeg.errors)")
        let two = try await pipectl.shell("pipectl thumb photo.jpg -o png:- -f jpg")
        #expect(two.status == 2 && two.errors.contains("give one"), "\(two.errors)")
        #expect(try await pipectl.shell("pipectl thumb photo.jpg -o png:- --json").status == 2)
        // Anything else is a file's name.
        let file = try await pipectl.shell("pipectl thumb photo.jpg -s 20 -o what:- -f jpg && test -s what:-")
        #expect(file.status == 0, "\(file.errors)")
    }

    @Test("--chroma and --colours reach the encoders, and warn where they have no effect")
    func encoders() async throws {
        let result = try await pipectl.shell(
            """
            for c in 4:4:4 4:2:0; do pipectl convert photo.jpg "$c.jpg" --chroma $c -q; done
            pipectl convert photo.jpg all.png -q; pipectl convert photo.jpg few.png --colours 16 -q
            stat -c %s 4:4:4.jpg 4:2:0.jpg all.png few.png
            """)
        let sizes = result.lines.compactMap { Int($0) }
        try #require(sizes.count == 4, "\(result.errors)")
        #expect(sizes[0] > sizes[1] && sizes[2] > 3 * sizes[3], "\(sizes)")
        let idle = try await pipectl.shell("pipectl convert photo.jpg a.png --chroma 4:2:0")
        #expect(idle.errors.contains("--chroma has no effect on png"), "\(idle.errors)")
        for options in ["--chroma 4:1:1", "--colours 1", "--colors 257"] {
            #expect(try await pipectl.shell("pipectl convert photo.jpg b.png \(options)").status == 2)
        }
    }

    @Test("--only-if-smaller leaves out results that aren't, and the source in place", arguments: ["in", "batch"])
    func onlyIfSmaller(verb: String) async throws {
        let arguments = verb == "in" ? "thumb small.jpg -s 640 --in-place" : "batch small.jpg -o out"
        let result = try await pipectl.shell(
            "pipectl convert photo.jpg small.jpg -Q 20 -q; pipectl \(arguments) -Q 95 --only-if-smaller")
        #expect(
            result.status == 0 && result.text.contains("the result isn't smaller"), "\(result.text) \(result.errors)")
        #expect(!pipectl.exists("out/small.jpg"))
        let smaller = try await pipectl.shell("pipectl \(arguments) -Q 5 --only-if-smaller")
        #expect(smaller.status == 0 && !smaller.text.contains("isn't smaller"), "\(smaller.text)")
    }
}
