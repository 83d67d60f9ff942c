import ArgumentParser
import Stages

/// Empties the cache.
struct CachePurgeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge",
        abstract: "Remove everything from the cache.",
        discussion: """
            Examples:
              pipectl cache purge
            """)

    @OptionGroup(title: "Sources and cache") var cache: CacheOptions
    @OptionGroup(title: "Messages") var report: ReportOptions

    func run() async throws {
        let responses = try await cache.existing()
        let count = await responses?.removeAll() ?? 0
        await responses?.close()
        if report.json {
            StandardOutput.write(JSONLine.of(["removed": count]))
        } else if !report.quiet {
            StandardOutput.write("\(count) removed")
        }
    }
}
