import Foundation
import Testing

@Suite("pipectl plan")
struct PlanTests {
    private let pipectl: Pipectl

    init() throws { pipectl = try Pipectl() }

    @Test("prints the list that each policy stands for")
    func plans() async throws {
        let result = try await pipectl.run(
            "plan", "--policy", "returnCacheElseLoad", "--cache-delay", "0.1", "--download-delay", "0.5s")
        #expect(
            result.text == """
                ResolveIdentifier
                MemoryLookup
                Coalesce(by: variant) {
                    ReadInline
                    ReadFile
                    FollowRedirects {
                        ReplaceUndecodable {
                            Delay(0.1 s)
                            Lookup
                            Delay(0.5 s)
                            MemoryLookup
                            Lookup
                            RefreshStale {
                                StaleFirst {
                                    StaleIfError {
                                        Coalesce(by: source) {
                                            Lease {
                                                FollowIdentified {
                                                    Fetch
                                                }
                                            }
                                        }
                                    }
                                    CheckContentType
                                    Decode(isolated)
                                    Downscale
                                }
                                Store
                            }
                        }
                    }
                }

                Colours become sRGB, since the list ends in pixels.
                A channel gets 8 bits, since the list ends in pixels.
                HDR becomes SDR, since the list ends in pixels.
                A gain map is dropped, since the list ends in pixels.

                """)
        #expect(result.status == 0)
        #expect(result.errors.isEmpty)
    }

    @Test("says what a list keeps of a source's pixels, and which stage loses the rest")
    func kept() async throws {
        func plan(_ stages: String) async throws -> String {
            let file = "printf 'pipeline:\\n- readFile\\n\(stages)' > list.yaml; pipectl plan --pipeline list.yaml"
            let result = try await pipectl.shell(file)
            #expect(result.errors.isEmpty, "\(result.errors)")
            return result.text
        }
        #expect(
            try await plan("- decode\\n- encode: {format: avif}\\n").hasSuffix(
                """

                Colours stay in the source's gamut.
                A channel keeps up to 16 bits.
                HDR stays HDR.
                A gain map is kept.

                """))
        let adjusted = try await plan(
            "- decode: {gainMap: apply}\\n- adjust: {brightness: 1.2}\\n- encode: {format: png}\\n")
        #expect(adjusted.contains("\nColours become sRGB, since Adjust(brightness: 1.2"), "\(adjusted)")
        #expect(adjusted.contains("\nA gain map is dropped, since Adjust("), "\(adjusted)")
        let jpeg = try await plan("- decode: {gamut: srgb}\\n- encode: {format: jpg}\\n")
        #expect(
            jpeg.contains("\nColours become sRGB, as chosen.\nA channel gets 8 bits, since Encode(image/jpeg"),
            "\(jpeg)")
        #expect(jpeg.contains("\nHDR becomes SDR, as chosen.\nA gain map is kept.\n"), "\(jpeg)")
    }

    @Test("prints no Fetch for returnCacheDontLoad, no lookup for ignoreCache, HTTP's rules for useProtocol")
    func policies() async throws {
        let offline = try await pipectl.run("plan", "--policy", "returnCacheDontLoad").text
        #expect(offline.contains("Lookup") && !offline.contains("Fetch"))
        let ignoring = try await pipectl.run("plan", "--policy", "ignoreCache").text
        #expect(ignoring.contains("Fetch") && !ignoring.contains("Lookup"))
        let http = try await pipectl.run("plan", "--policy", "useProtocol").text
        #expect(http.contains("MemoryLookup(http rules)") && http.contains("Lookup(http rules)"))
    }

    @Test("leaves no trace in the file system")
    func noTrace() async throws {
        _ = try await pipectl.run("plan")
        #expect(try FileManager.default.contentsOfDirectory(atPath: pipectl.folder.path).isEmpty)
    }

    @Test(
        "refuses what makes no sense with status 2, saying what would",
        arguments: [
            (["plan", "--policy", "nonsense"], "returnCacheElseLoad"),
            (["plan", "--cache-delay", "-1"], "--cache-delay"), (["plan", "--cache-delay", "x"], "--cache-delay"),
            (["plan", "--policy", "ignoreCache", "--cache-delay", "1"], "has no --cache-delay"),
            (["plan", "--policy", "returnCacheDontLoad", "--download-delay", "1"], "has no --download-delay"),
            (["plan", "extra"], "extra"), (["nonsense"], "nonsense"),
            (["load"], "source"), (["load", "a", "b", "-o", "c.png"], "folder"),
            (["load", "a", "--max-pixel-size", "0"], "max-pixel-size"),
            (["load", "a", "--max-pixel-size", "x"], "max-pixel-size"),
            (["load", "a", "--max-pixel-size", "0x0"], "max-pixel-size"),
            (["load", "a", "--max-pixel-size", "10x-1"], "max-pixel-size"),
            (["load", "a", "b", "--identifier", "x"], "identifier"), (["load", "-", "-", "-o", "out/"], "once"),
            (["load", "a", "-o", "-", "--json"], "--json"), (["load", "x/a.png", "y/a.png", "-o", "out/"], "both"),
        ])
    func usage(arguments: [String], expected: String) async throws {
        let (output, errors) = (Pipe(), Pipe())
        let process = try pipectl.start(arguments, output: output, errors: errors)
        let told = String(decoding: await Pipectl.bytes(of: errors), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 2)
        #expect(told.contains(expected))
    }
}
