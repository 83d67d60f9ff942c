import Foundation
import Testing

@Suite("Help")
struct HelpTests {
    private let pipectl: Pipectl

    init() throws { pipectl = try Pipectl() }

    /// The names below the headings of subcommands.
    private static func subcommands(_ help: [String]) -> [String] {
        help.split(separator: "").filter { $0.first?.hasSuffix("ubcommands:") == true }
            .flatMap { $0.dropFirst().compactMap { $0.split(separator: " ").first.map(String.init) } }
    }

    @Test("-h has a line of at most 80 columns for each option of each verb, and --help has more")
    func short() async throws {
        var verbs = [""]
        var count = 0
        while let verb = verbs.popLast() {
            count += 1
            let short = try await pipectl.shell("pipectl \(verb) -h").text.components(separatedBy: "\n")
            let long = try await pipectl.shell("pipectl \(verb) --help").text
            verbs += Self.subcommands(short).map { "\(verb) \($0)" }
            #expect(short.allSatisfy { $0.count <= 80 }, "\(verb): \(short.filter { $0.count > 80 })")
            for option in long.matches(of: /(?:^|\n)  (?:-., )?(--[a-z0-9-]+)/) {
                #expect(short.contains { $0.contains(option.output.1) }, "\(verb): \(option.output.1)")
            }
            #expect(!short.contains("Examples:"))
            #expect(short.contains { $0.hasSuffix("--help' has all details and examples.") }, "\(verb)")
        }
        #expect(count > 15)
    }

    @Test("-h after -- is a file's name")
    func name() async throws {
        #expect(try await pipectl.shell("pipectl info -- -h").errors.contains("-h"))
    }
}
