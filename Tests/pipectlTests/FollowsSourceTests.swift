import Foundation
import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@Suite("pipectl and what a result takes from its source")
struct FollowsSourceTests {
    private let pipectl: Pipectl

    init() throws {
        pipectl = try Pipectl()
        try pipectl.add("good/jpeg-greyscale.jpg", as: "a.jpg")
        try pipectl.add("good/gif-animated.gif", as: "anim.gif")
    }

    @Test(
        "Standard output has the source's format",
        arguments: [
            "thumb a.jpg -s 20 -o -", "thumb - -s 20 <a.jpg", "convert - - <a.jpg", "run a.jpg -s 9 -o -",
            "load a.jpg -o -", "thumb named -s 20 -o -",
            "thumb data:image/jpeg\\;base64,$(base64 -w0 a.jpg) -s 20 -o -",
        ])
    func standardOutput(arguments: String) async throws {
        let result = try await pipectl.shell("cp a.jpg named; pipectl \(arguments)")
        #expect(result.output.starts(with: [0xFF, 0xD8, 0xFF]), "\(result.errors)")
        let gif = try await pipectl.shell("pipectl convert anim.gif - | pipectl info - -F '{format} {frames}'")
        #expect(gif.text.hasPrefix("gif ") && gif.lines.first != "gif 1", "\(gif.text) \(gif.errors)")
        #expect(try await pipectl.shell("pipectl convert a.jpg - -f png").output.starts(with: [0x89, 0x50]))
    }

    @Test(
        "Standard output has the format of a source whose URL doesn't tell it",
        arguments: ["thumb URL -s 20 -o -", "convert URL -", "run URL -s 9 -o -", "load URL -o -"])
    func standardOutputOfURL(arguments: String) async throws {
        let bodies = ["photo": "good/jpeg-greyscale.jpg", "anim": "good/gif-animated.gif"].mapValues(Pictures.path)
        let origin = try ScriptedOrigin { request in
            guard let body = bodies.first(where: { request.path.contains($0.key) })?.value,
                let bytes = FileManager.default.contents(atPath: body)
            else { return .init(status: 404) }
            return .init(body: Array(bytes))
        }
        func run(_ path: String) async throws -> Pipectl.Result {
            let url = origin.url("/\(path)").absoluteString
            return try await pipectl.shell("pipectl \(arguments.replacing("URL", with: "'\(url)'"))")
        }
        let photo = try await run("photo")
        #expect(photo.output.starts(with: [0xFF, 0xD8, 0xFF]), "\(photo.errors)")
        #expect(photo.errors.isEmpty)
        let anim = try await run("anim?size=large")
        #expect(anim.output.starts(with: "GIF8".utf8) && anim.errors.isEmpty, "\(anim.errors)")
        #expect(try await run("missing").status == 1)
    }

    @Test("A result keeps the extension as the source spells it if the format stays")
    func extensions() async throws {
        let result = try await pipectl.shell(
            """
            mkdir in; for n in a.jpg a.jpeg UP.JPG two.MPO; do cp a.jpg in/$n; done
            pipectl batch in -s 8 -o out && pipectl batch in -s 8 -f webp -o web --on-collision keep-extension
            pipectl thumb in/a.jpeg -s 20x20 && ls in out web
            """)
        #expect(result.status == 0, "\(result.errors)")
        #expect(try pipectl.tree("out").keys.sorted() == ["UP.JPG", "a.jpeg", "a.jpg", "two.MPO"])
        #expect(try pipectl.tree("web").keys.sorted() == ["UP.webp", "a.jpeg.webp", "a.jpg.webp", "two.webp"])
        #expect(pipectl.exists("in/a-20x15.jpeg"), "\(result.text)")
    }

    @Test("A pipeline from a file keeps the frames that convert keeps, unless it says how many")
    func framesOfPipeline() async throws {
        let result = try await pipectl.shell(
            """
            printf -- '- readFile\n- decode\n' >all.yaml; printf -- '- readFile\n- decode: {frames: 1}\n' >one.yaml
            pipectl convert anim.gif c.webp -q; pipectl run anim.gif --pipeline all.yaml -o d.webp -q
            pipectl run anim.gif --pipeline one.yaml -o e.webp -q
            pipectl run anim.gif --pipeline all.yaml -o f.webp -q --frames 2
            for n in c d e f; do pipectl info $n.webp -F '{frames}'; done
            """)
        let frames = result.lines.compactMap { Int($0) }
        try #require(frames.count == 4, "\(result.text) \(result.errors)")
        #expect(frames[0] > 2 && frames[1] == frames[0] && frames[2] == 1 && frames[3] == 2, "\(frames)")
    }

    @Test(
        "A format without frames says that it drops them, unless one frame was asked for",
        arguments: ["convert anim.gif s.jpg", "thumb anim.gif -o s.tif", "load anim.gif -o s.jpg"])
    func droppedFrames(arguments: String) async throws {
        let result = try await pipectl.shell("pipectl \(arguments)")
        #expect(result.status == 0 && result.errors.contains("holds only the first one"), "\(result.errors)")
        let meant = try await pipectl.shell("pipectl \(arguments) -y --frames 1")
        #expect(meant.status == 0 && meant.errors.isEmpty, "\(meant.errors)")
    }

    @Test("Without a home folder no journal is kept, least of all in a folder that others share")
    func homeless() async throws {
        let batch = "env -u HOME -u XDG_STATE_HOME pipectl batch a.jpg -s 8"
        let result = try await pipectl.shell("\(batch) -o out && ls -d /tmp/.local/state/pipectl")
        #expect(result.errors.contains("HOME isn't set"), "\(result.errors)")
        #expect(pipectl.exists("out/a.jpg"))
        let resumed = try await pipectl.shell("\(batch) -o out2 --resume")
        #expect(resumed.status == 1 && resumed.errors.contains("--journal"), "\(resumed.errors)")
    }

    @Test("A signal that ends the writer of an input too is a signal, not an empty file", arguments: ["-", "pipe"])
    func signalled(input: String) async throws {
        // Stopped programs find both the end of the input and the signal when they continue.
        let result = try await pipectl.shell(
            """
            mkfifo pipe; jobs=
            for n in $(seq 16); do
                pipectl thumb \(input) -s 9 -o $n.jpg \(input == "-" ? "<pipe" : "") & jobs="$jobs $!"
            done
            exec 3>pipe
            for job in $jobs; do
                for n in $(seq 1000); do grep -q pipeline-files /proc/$job/task/*/comm 2>/dev/null && break; done
                kill -STOP $job
                for n in $(seq 1000); do grep -q 'State:.T' /proc/$job/status && break; done
            done
            exec 3>&-; kill -TERM $jobs; kill -CONT $jobs; for job in $jobs; do wait $job; echo $?; done
            """)
        #expect(result.lines == [String](repeating: "143", count: 16), "\(result.errors)")
        #expect(result.errors.isEmpty)
    }
}
