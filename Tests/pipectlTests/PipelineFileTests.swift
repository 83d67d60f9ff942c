import Foundation
import PipelineTesting
import Testing

@Suite("Pipelines and defaults from files")
struct PipelineFileTests {
    private let pipectl: Pipectl

    init() throws {
        pipectl = try Pipectl()
        try pipectl.add("good/jpeg-progressive-444.jpg", as: "photo.jpg")
    }

    private func plan(_ yaml: String) async throws -> Pipectl.Result {
        try Data(yaml.utf8).write(to: pipectl.folder.appending(path: "p.yaml"))
        return try await pipectl.run("plan", "--pipeline", "p.yaml")
    }

    @Test(
        "refuses a file that is too long or nested too deep, before its reading takes long",
        arguments: [
            (String(repeating: "[", count: 100_000), "p.yaml:1:65: This is nested too deep"),
            ("- a: " + String(repeating: "{a: ", count: 50_000), "nested too deep"),
            (
                (0..<200).map { String(repeating: " ", count: $0) + "a:\n" }.joined(),
                "p.yaml:64:64: This is nested too deep"
            ),
            ("- \"" + String(repeating: "x", count: 5_000_000), "File too large"),
            (String(repeating: "- a\n", count: 20_000), "p.yaml:9999:3: The file has too many values"),
            ("- \"" + String(repeating: "x", count: 100_000) + "\"", "There is no stage"),
        ])
    func bounded(yaml: String, error: String) async throws {
        for (command, variable) in [("plan --pipeline p.yaml", "NOTHING"), ("info photo.jpg", "PIPECTL_CONFIG")] {
            try Data(yaml.utf8).write(to: pipectl.folder.appending(path: "p.yaml"))
            let result = try await pipectl.shell("pipectl \(command)", environment: [variable: "p.yaml"])
            #expect(result.status != 0)
            if variable == "NOTHING" || !error.contains("stage") {
                #expect(result.errors.contains(error), "\(result.errors)")
            }
        }
    }

    @Test("plan prints a file back as a list, composites with their braces")
    func plans() async throws {
        let result = try await plan(
            """
            # Either way, the fetch is shared.
            pipeline:
              - resolveIdentifier
              - memory-lookup: http
              - coalesce:
                  by: variant
                  stages:
                    - readFile
                    - Lookup
                    - staleIfError:
                        - lease:
                            rules: http
                            stages: [fetch]
                    - decode: {quality: fast}
                    - resize: [800, 600, cover]
                    - crop: {width: 100, height: 100, gravity: northEast}
                    - sharpen: 0.5
                    - circle:
                    - encode: {format: webp, quality: 75}
              - store
            """)
        #expect(
            result.text == """
                ResolveIdentifier
                MemoryLookup(http rules)
                Coalesce(by: variant) {
                    ReadFile
                    Lookup
                    StaleIfError {
                        Lease(http rules) {
                            Fetch
                        }
                    }
                    Decode(fast, isolated)
                    Resize(800×600, cover)
                    Crop(100×100, northEast)
                    Sharpen(0.5, sigma: 0.7)
                    CropCircle
                    Encode(image/webp, quality: 75)
                }
                Store

                Colours stay in the source's gamut.
                A channel gets 8 bits, since Sharpen(0.5, sigma: 0.7) takes no more.
                HDR becomes SDR, since Sharpen(0.5, sigma: 0.7) doesn't take it.
                A gain map is dropped, since Encode(image/webp, quality: 75) doesn't keep it.

                """, "\(result.errors)")
    }

    @Test(
        "says line, column and the nearest right name",
        arguments: [
            ("- readFile\n- decoed", "p.yaml:2:3: There is no stage decoed. Did you mean decode?"),
            ("- resize: {width: 3, hieght: 4}", "p.yaml:1:22: resize has no parameter hieght. Did you mean height?"),
            ("- resize: {width: wide}", "p.yaml:1:12: resize: width takes a whole number from 1 to 1000000, not wide."),
            ("- blur", "p.yaml:1:3: blur needs sigma: a number from 0 to 100."),
            ("- circle: 3", "p.yaml:1:11: circle takes no value."),
            ("- retry", "p.yaml:1:3: retry wraps stages"),
            (
                "- coalesce:\n    by: varian\n    stages: [fetch]",
                "p.yaml:2:5: coalesce: by takes variant, source, not varian."
            ),
            ("- coalesce:\n    by: variant\n    stages: fetch", "p.yaml:3:13: stages takes a list."),
            ("- [readFile]", "p.yaml:1:3: This is a list"), ("- {a: 1, b: 2}", "p.yaml:1:3: This is a mapping"),
            ("readFile", "p.yaml:1:1: This is a value; write a list"), ("", "p.yaml:1:1: The file is empty"),
            ("a: [", "p.yaml:2:1: This is not YAML"), ("- resize: {width: 1, width: 2}", "width is given twice"),
            ("- readFile\n- sharpen", "p.yaml:2:3: Sharpen can never run"),
            ("- readFile\n- firstOf: [decode, sharpen]", "p.yaml:2:21: Sharpen can never run"),
            ("- readFile\n- firstOf:\n    stages:\n    - decode\n    - sharpen", "p.yaml:5:7: Sharpen can never run"),
            ("- &a [*a]", "nested too deep"),
            ("- \u{1}", "This is not YAML"),
        ])
    func mistakes(yaml: String, expected: String) async throws {
        let result = try await plan(yaml)
        #expect(result.status == 2)
        #expect(result.errors.contains(expected), "\(result.errors)")
    }

    @Test("run and batch take a file; where it has no encode, the output's name says what is written")
    func runs() async throws {
        let result = try await pipectl.shell(
            """
            printf -- '- readFile\\n- readInline\\n- decode\\n- resize: {width: 50, height: 50, fit: cover}\\n' > p.yaml
            pipectl run photo.jpg --pipeline p.yaml -o a.png && pipectl info a.png -F '{w}x{h} {format}'
            mkdir in && cp photo.jpg in && pipectl batch in --pipeline p.yaml -f webp -o out -q
            pipectl info out/photo.webp -F '{w}x{h} {format}'
            """)
        #expect(result.lines.suffix(2) == ["50x50 png", "50x50 webp"], "\(result.errors)")
        #expect(try await pipectl.shell("pipectl run photo.jpg --pipeline none.yaml -o a.png").status == 2)
        #expect(try await pipectl.shell("pipectl run photo.jpg --pipeline p.yaml -s 10 -o a.png").status == 2)
    }

    @Test("a flag counts more than a variable, a variable more than the file")
    func precedence() async throws {
        let script = """
            mkdir -p config/pipectl && printf 'quality: 5\\nformat: webp\\njobs: 2\\n' > config/pipectl/config.yaml
            """
        let environment = ["XDG_CONFIG_HOME": pipectl.path("config")]
        func bytes(_ command: String) async throws -> Int {
            let result = try await pipectl.shell(command + " --json", environment: environment)
            return try #require(try result.objects().first?["bytes"] as? Int, "\(result.errors)")
        }
        _ = try await pipectl.shell(script)
        let file = try await bytes("pipectl thumb photo.jpg -s 100 -o '1.{ext}'")
        #expect(pipectl.exists("1.webp"))
        let variable = try await bytes("PIPECTL_QUALITY=60 pipectl thumb photo.jpg -s 100 -o '2.{ext}'")
        let flag = try await bytes("PIPECTL_QUALITY=60 pipectl thumb photo.jpg -s 100 -o '3.{ext}' -Q 95")
        #expect(file < variable && variable < flag)
        let shown = try await pipectl.shell("PIPECTL_QUALITY=60 pipectl --print-config", environment: environment).text
        #expect(shown.contains("quality: 60  # PIPECTL_QUALITY\n"))
        #expect(shown.contains("format: webp  # \(pipectl.path("config"))/pipectl/config.yaml:2\n"))
        // What a verb doesn't know is left out for it.
        #expect(try await pipectl.shell("pipectl plan", environment: environment).status == 0)
        let wrong = try await pipectl.shell(
            "printf 'qualty: 5' > config/pipectl/config.yaml; pipectl plan", environment: environment)
        #expect(wrong.status == 2)
        #expect(wrong.errors.contains("config.yaml:1:1: There is no such option. Did you mean quality?"))
    }

    @Test(
        "a verb that there is not brings the nearest to mind", arguments: [("thmb", "thumb"), ("cache stat", "stats")])
    func misspelling(verb: String, right: String) async throws {
        let result = try await pipectl.shell("pipectl \(verb)")
        #expect(result.status == 2)
        #expect(result.errors.contains("Did you mean '\(right)'?\n"))
    }
}
