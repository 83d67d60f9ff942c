import Foundation
import Testing

@Suite("Help")
struct HelpTests {
    static let verbs = [
        "", "load", "thumb", "convert", "run", "batch", "watch", "srcset", "strip", "montage", "compare", "info",
        "view", "prefetch", "cache", "cache ls",
        "cache prune", "cache rm", "cache verify", "doctor", "fetch", "plan", "help",
    ]

    @Test("-h has a line of at most 80 columns for each option, and --help has more", arguments: verbs)
    func short(verb: String) async throws {
        let pipectl = try Pipectl()
        defer { pipectl.remove() }
        let (short, long) = (
            try await pipectl.shell("pipectl \(verb) -h"), try await pipectl.shell("pipectl \(verb) --help")
        )
        #expect(short.status == 0 && long.status == 0)
        #expect(short.lines.allSatisfy { $0.count <= 80 }, "\(short.lines.filter { $0.count > 80 })")
        for option in long.text.matches(of: /--[a-z0-9-]+/) where !verb.isEmpty {
            let isListed = long.lines.contains { $0.hasPrefix("  -") && $0.contains(option.output) }
            #expect(!isListed || short.text.contains(option.output), "\(option.output)")
        }
        #expect(short.lines.last?.contains("--help' has all details") == true)
        #expect(!short.text.contains("Examples:"))
    }

    @Test("-h after -- is a file's name")
    func name() async throws {
        let pipectl = try Pipectl()
        defer { pipectl.remove() }
        #expect(try await pipectl.shell("pipectl info -- -h").errors.contains("-h"))
    }
}
