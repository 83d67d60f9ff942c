import Foundation
import HTTPTypes
import PipelineTesting
import SourceVersion
import TestFixtures
import Testing

@testable import PipelineCommand

@Suite("Usage, settings and warnings")
struct UsageTests {
    private let pipectl: Pipectl

    init() throws {
        pipectl = try Pipectl()
        try pipectl.add("good/jpeg-greyscale.jpg", as: "photo.jpg")
    }

    @Test("a format that is set ranks below the extension of a named output, and breaks no other verb")
    func format() async throws {
        let webp = ["PIPECTL_FORMAT": "webp"]
        let named = try await pipectl.shell("pipectl convert photo.jpg a.png", environment: webp)
        #expect(named.status == 0, "\(named.errors)")
        #expect(try pipectl.content("a.png").starts(with: [0x89, 0x50]))
        #expect(
            try await pipectl.shell("pipectl thumb photo.jpg -s 8 && test -s photo-8x6.webp", environment: webp).status
                == 0)
        #expect(try await pipectl.shell("pipectl info photo.jpg", environment: webp).text.contains("100×75, jpeg"))
        #expect(
            try await pipectl.shell("pipectl srcset photo.jpg -w 9 && test -s photo-9.webp", environment: webp).status
                == 0)
    }

    @Test(
        "no setting breaks a verb or a format that has no use for it", .onLinux,
        arguments: [
            "thumb photo.jpg -s 8 -o a.png -y", "thumb photo.jpg -s 8 -o a.webp -y", "info photo.jpg", "plan",
            "cache path", "load photo.jpg", "srcset photo.jpg -w 8 -f gif -y", "batch photo.jpg -s 8 -o o -y", "doctor",
        ])
    func harmless(arguments: String) async throws {
        let result = try await pipectl.shell(
            "pipectl \(arguments)",
            environment: [
                "PIPECTL_EFFORT": "9", "PIPECTL_QUALITY": "70", "PIPECTL_LOSSLESS": "true",
                "PIPECTL_PROGRESSIVE": "true",
                "PIPECTL_MAX_BYTES": "1M", "PIPECTL_FORMAT": "avif", "PIPECTL_FRAMES": "5", "PIPECTL_JOBS": "2",
                "PIPECTL_METADATA": "all", "PIPECTL_MEMORY": "1G", "PIPECTL_COLOR": "never",
            ])
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.errors.isEmpty)
    }

    @Test("an error names the setting's location")
    func origin() async throws {
        for (name, verb) in [
            ("QUALITY", "thumb photo.jpg"), ("JOBS", "batch photo.jpg -o o"), ("EFFORT", "run photo.jpg -s 8"),
        ] {
            let result = try await pipectl.shell("pipectl \(verb)", environment: ["PIPECTL_\(name)": "lots"])
            #expect(result.status == 2)
            #expect(result.errors.contains("PIPECTL_\(name)"), "\(result.errors)")
            #expect(!result.errors.contains("--default-"))
        }
    }

    @Test(
        "help and the version work with a bad config file, and the doctor says what is wrong",
        arguments: ["--version", "--help", "thumb --help", "help thumb", "--generate-completion-script zsh"])
    func badConfig(arguments: String) async throws {
        let environment = ["XDG_CONFIG_HOME": pipectl.path("config")]
        let write = "mkdir -p config/pipectl; echo 'qualty: 3' >config/pipectl/config.yaml; "
        let result = try await pipectl.shell("\(write) pipectl \(arguments)", environment: environment)
        #expect(result.status == 0, "\(result.errors)")
        let doctor = try await pipectl.shell("pipectl doctor", environment: environment)
        #expect(doctor.status == 1)
        #expect(doctor.lines.contains { $0.hasPrefix("WRONG settings") && $0.contains("Did you mean quality?") })
        #expect(try await pipectl.shell("pipectl plan", environment: environment).status == 2)
    }

    @Test("help of no verb is an error", arguments: ["help nosuch", "help cache nosuch", "nosuch", "cache nosuch"])
    func noVerb(arguments: String) async throws {
        let result = try await pipectl.shell("pipectl \(arguments)")
        #expect(result.status == 2)
        #expect(result.errors.contains("There is no verb"))
        #expect(try await pipectl.shell("pipectl help cache prune").text.contains("USAGE: pipectl cache prune"))
    }

    @Test(
        "errors of usage come with the usage of their verb",
        arguments: [
            ("thumb photo.jpg b.jpg -o one.jpg", "thumb"), ("convert photo.jpg a.webp --effort 8", "convert"),
            ("run photo.jpg --ops nosuch -o a.png", "run"), ("cache rm", "cache rm"), ("batch x -o '{nam}'", "batch"),
        ])
    func usage(arguments: String, verb: String) async throws {
        let result = try await pipectl.shell("pipectl \(arguments)")
        #expect(result.status == 2)
        #expect(result.errors.contains("Usage: pipectl \(verb) "), "\(result.errors)")
    }

    @Test(
        "options are held against the format, in the command's own words",
        arguments: [
            ("--effort 99 -o a.webp", 2, "--effort takes 0 to 6 for webp and 0 to 9 for avif, not 99."),
            ("--effort 8 -o a.webp", 2, "--effort takes 0 to 6 for webp, not 8."), ("--effort 8 -o a.avif", 0, ""),
            ("--effort 3 -o a.jpg", 0, "--effort has no effect on jpg."),
            ("--lossless -o b.jpg", 0, "--lossless has no effect"),
            ("--progressive -o a.png", 0, "--progressive has no effect on png."),
            ("-Q 5 -o b.png", 0, "-Q has no effect on png."),
            ("-Q 5 -o c.jpg", 0, ""), ("--lossless -o c.png", 0, ""),
            ("--max-bytes 0 -o d.jpg", 2, "--max-bytes takes 1"),
        ])
    func encoding(options: String, status: Int, expected: String) async throws {
        let result = try await pipectl.shell("pipectl thumb photo.jpg -s 8 \(options)")
        #expect(result.status == Int32(status), "\(result.errors)")
        #expect(expected.isEmpty ? result.errors.isEmpty : result.errors.contains(expected), "\(result.errors)")
        #expect(try await pipectl.shell("pipectl thumb photo.jpg -y -q -s 8 \(options)").errors.isEmpty || status == 2)
    }

    @Test(
        "an animation keeps its frames where the output's format has any",
        arguments: [
            ("convert in.gif out.webp", 4), ("convert in.webp out.gif", 4), ("thumb in.gif -s 8 -o out.avif", 4),
            ("run in.gif --ops greyscale -o out.gif", 4), ("load in.gif -o out.webp", 4),
            ("srcset in.gif -w 8 -f webp,jpg -o 'out.{ext}'", 4), ("convert in.gif out.webp --frames all", 4),
            ("convert in.gif out.webp --frames 2", 2), ("batch in.gif -s 8 -o 'out.{ext}' --frames 1", 1),
            ("convert in.gif out.jpg", 1), ("convert in.png out.webp", 4), ("convert in.webp out.png", 4),
        ])
    func frames(line: String, kept: Int) async throws {
        for format in ["gif", "webp"] { try pipectl.add("good/\(format)-animated.\(format)", as: "in.\(format)") }
        try pipectl.add("good/png-apng-animated.png", as: "in.png")
        let result = try await pipectl.shell("pipectl \(line) -q && pipectl info out.* -F '{frames} '")
        #expect(
            result.text.split(whereSeparator: \.isWhitespace).last.map(String.init) == "\(kept)", "\(result.errors)")
        #expect(result.errors.isEmpty)
    }

    @Test("frames beyond the limits are dropped with a warning, or refused where all are asked for")
    func tooManyFrames() async throws {
        try pipectl.add("good/gif-animated.gif", as: "in.gif")
        let area = try await pipectl.shell("pipectl info in.gif -F '{w} {h}'").text.split(
            whereSeparator: \.isWhitespace
        )
        .compactMap { Int($0) }.reduce(1, *)
        for verb in ["convert", "load -o"] {
            let (first, second) = verb == "convert" ? ("in.gif", "out.gif") : ("out.gif", "in.gif")
            let cut = try await pipectl.shell(
                "pipectl \(verb) \(first) \(second) -y --max-pixels \(area * 3); pipectl info out.gif -F '\n{frames}'")
            #expect(
                cut.errors.contains("in.gif: The animation has 4 frames; only the first 3 are kept."), "\(cut.errors)")
            #expect(cut.lines.last == "3")
        }
        let refused = try await pipectl.shell("pipectl convert in.gif all.gif --frames all --max-pixels \(area * 3)")
        #expect(refused.status == 1)
        #expect(refused.errors.contains("4 frames"))
    }

    @Test(
        "messages name options, not the library's parameters, and a stage only with -v",
        arguments: [
            ("thumb photo.jpg --max-pixels 10", "Raise it with --max-pixels."),
            ("thumb photo.jpg --max-side 10", "Raise it with --max-side."),
            ("thumb photo.jpg --max-source-bytes 100", "Raise it with --max-source-bytes."),
            ("thumb - --max-source-bytes 100 -o out.jpg < photo.jpg", "Raise it with --max-source-bytes."),
            ("thumb photo.jpg --max-time 1e-9", "Raise it with --max-time."),
            (
                "thumb photo.jpg -o out.jpg --max-bytes 10",
                "--max-bytes allows 10. Raise it, choose a smaller size with -s,"
            ),
            ("run photo.jpg --ops 'resize=17000:8:fit=fill:enlarge' -o out.webp", "choose a smaller size with -s or"),
            ("load http://127.0.0.1:1/a.jpg --policy offline", "use --policy returnCacheElseLoad to allow downloads."),
            ("load http://127.0.0.1:1/a.jpg --public-only", "If you mean it, leave out --public-only."),
        ])
    func words(line: String, expected: String) async throws {
        let result = try await pipectl.shell("pipectl \(line)")
        #expect(result.status == 1)
        #expect(result.errors.contains(expected), "\(result.errors)")
        let stage = #/(?:ReadFile|ReadInline|Decode|Encode|Fetch): /#
        #expect(!result.errors.contains(stage), "\(result.errors)")
        if line.contains("max-pixels") {
            #expect(try await pipectl.shell("pipectl \(line) -v").errors.contains("Decode: photo.jpg: "))
        }
    }

    @Test("the frames of an animated PNG are told")
    func animatedPNG() async throws {
        try pipectl.add("good/png-apng-animated.png", as: "in.png")
        #expect(try await pipectl.shell("pipectl info in.png").text.contains("4 frames"))
    }

    @Test("convert offers nothing that it doesn't take")
    func convertHelp() async throws {
        let text = try await pipectl.shell("pipectl convert --help").text
        #expect(!text.contains("--in-place") && !text.contains("-o, --output") && !text.contains("--default-"))
    }

    @Test("a dry run tells the truth, in JSON too")
    func dryRun() async throws {
        let result = try await pipectl.shell("pipectl thumb photo.jpg none.jpg --dry-run")
        #expect(result.text == "photo.jpg → photo-100x75.jpg\n")
        #expect(result.errors.contains("none.jpg: There is no such file."))
        #expect(result.status == 1)
        let json = try await pipectl.shell(
            "touch out.png; pipectl batch photo.jpg none.jpg -f png -o . --dry-run --json")
        let objects = try json.objects()
        #expect(objects.count == 2, "\(json.text)")
        #expect(objects[0]["status"] as? String == "planned" && objects[0]["output"] as? String == "photo.png")
        #expect(objects[1]["status"] as? String == "failed")
        #expect(
            try await pipectl.shell("pipectl srcset photo.jpg -w 50,5000 --dry-run").lines == [
                "photo.jpg → photo-50.jpg"
            ])
        #expect(try await pipectl.shell("ls").text.contains("50") == false)
    }

    @Test(
        "folders of results are made in every verb",
        arguments: [
            "thumb photo.jpg -s 8 -o a/b/x.jpg", "convert photo.jpg a/b/x.jpg", "load photo.jpg -o a/b/x.jpg",
            "srcset photo.jpg -w 8 -o a/b/{name}.jpg", "run photo.jpg -s 8 -o a/b/x.jpg", "batch photo.jpg -s 8 -o a/b",
        ])
    func folders(arguments: String) async throws {
        let result = try await pipectl.shell("pipectl \(arguments.replacing("{name}", with: "'{name}'"))")
        #expect(result.status == 0, "\(result.errors)")
        #expect(try pipectl.tree("a").count == 1)
    }

    @Test("a folder that can't be made is told once, before anything is decoded")
    func noFolder() async throws {
        let result = try await pipectl.shell(
            "cp photo.jpg b.jpg; pipectl thumb photo.jpg b.jpg -o 'photo.jpg/{name}.png' -v")
        #expect(result.status == 1)
        #expect(result.errors == "pipectl: photo.jpg: Nothing can be written here: photo.jpg is not a folder.\n")
    }

    @Test("names what an error is about")
    func named() async throws {
        #expect(
            try await pipectl.shell("pipectl run photo.jpg --ops composite=no.png -o a.png").errors.contains(
                "no.png: There is no"))
        #expect(
            try await pipectl.shell("pipectl info photo.jpg -F '{nosuch}'").errors.contains(
                "There is no field {nosuch}"))
    }

    @Test("a kind of JPEG that isn't supported isn't called damaged")
    func lossless() async throws {
        var bytes = try Pictures.bytes("good/jpeg-greyscale.jpg")
        let start = try #require(bytes.firstRange(of: [0xff, 0xc0])?.lowerBound)
        bytes[start + 1] = 0xc3
        try Data(bytes).write(to: pipectl.folder.appending(path: "lossless.jpg"))
        let result = try await pipectl.shell("pipectl thumb lossless.jpg -s 8 --json")
        let error = try #require(try result.objects().first?["error"] as? [String: Any], "\(result.text)")
        #expect(error["code"] as? String == "unsupportedType")
        #expect((error["message"] as? String)?.contains("not supported") == true)
    }

    @Test("a terminal that can't redraw a line gets no bar")
    func dumb() async throws {
        let result = try await pipectl.shell(
            "TERM=dumb script -qec 'pipectl batch photo.jpg -s 8 -o out' /dev/null", environment: ["TERM": "dumb"])
        #expect(!result.text.contains("\u{1B}"), "\(result.text)")
    }

    @Test("fetch leaves a file that exists, and takes a status for a failure where it is told")
    func fetch() async throws {
        let origin = try ScriptedOrigin { _ in .init(status: 404, body: "gone") }
        let url = origin.url("/a").absoluteString
        #expect(try await pipectl.shell("echo mine >f; pipectl fetch \(url) -o f").status == 1)
        #expect(try pipectl.content("f") == Array("mine\n".utf8))
        #expect(try await pipectl.shell("pipectl fetch \(url) -o f -n").status == 0)
        #expect(origin.log.requests.isEmpty, "nothing is asked for that would not be written")
        let failing = try await pipectl.shell("pipectl fetch \(url) -o g/h --fail")
        #expect(failing.status == 1)
        #expect(failing.errors.contains("404"))
        #expect(!pipectl.exists("g/h"))
        #expect(try await pipectl.shell("pipectl fetch \(url) -o f -y && pipectl fetch \(url) -o g/h").status == 0)
        #expect(try pipectl.content("g/h") == Array("gone".utf8))
    }

    @Test("the JSON of a load's trace has all that the text has, and cache rm says what it removed")
    func json() async throws {
        let body = try Pictures.bytes("good/jpeg-greyscale.jpg")
        let origin = try ScriptedOrigin { _ in
            .init(headers: [.cacheControl: "max-age=60", .contentType: "image/jpeg"], body: body)
        }
        let url = origin.url("/a.jpg").absoluteString
        let load = try await pipectl.shell("pipectl load \(url) --json")
        let trace = try #require(try load.objects().first?["trace"] as? [[String: Any]], "\(load.text)")
        #expect(trace.allSatisfy { Set($0.keys) == ["stage", "depth", "outcome", "ms", "bytes", "key", "note"] })
        #expect(trace.contains { ($0["depth"] as? Int ?? 0) > 0 } && trace.contains { $0["key"] is String })
        let removed = try await pipectl.shell("pipectl cache rm \(url) --json").objects()
        #expect(removed.first?["input"] as? String == url && removed.first?["removed"] as? Int == 1)
    }

    @Test("warnings of the cache are in the command's own words")
    func warnings() async throws {
        let origin = try ScriptedOrigin { _ in .init(headers: [.cacheControl: "max-age=60"], body: "x") }
        let result = try await pipectl.shell("touch file; pipectl fetch \(origin.url("/a")) --cache-dir file/inner")
        #expect(result.status == 0, "\(result.errors)")
        #expect(!result.errors.isEmpty)
        #expect(
            result.errors.split(separator: "\n").allSatisfy { $0.hasPrefix("pipectl: warning: ") }, "\(result.errors)")
    }

    // A sanitizer's own start needs /proc.
    #if !SANITIZE
    @Test(
        "the command line is read where /proc doesn't have it",
        .withMounts)
    func withoutProc() async throws {
        let result = try await pipectl.shell(
            """
            unshare --user --map-root-user --mount sh -c 'mount --bind /dev/null /proc/$$/cmdline && exec pipectl --version'
            unshare --user --map-root-user --mount sh -c 'mount --bind /dev/null /proc/$$/cmdline && exec pipectl thumb photo.jpg -s 8 -o a.png'
            """)
        // Not without all of /proc: libdispatch ends a program there that runs for a second.
        #expect(
            result.text.contains("\(SourceVersion.text)\n") && !result.text.contains("OVERVIEW"),
            "\(result.text) \(result.errors)")
    }
    #endif
}
