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

                """)
        #expect(result.status == 0)
        #expect(result.errors.isEmpty)
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
