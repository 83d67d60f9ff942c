import ArgumentParser
import PipelineShared
import Stages

/// Empties the cache.
struct CachePurgeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge",
        abstract: "Remove everything from the cache.",
        discussion: """
            With --shared it removes all responses and results from the server; machines keep their own tiers.

            Examples:
              \(Program.name) cache purge
              \(Program.name) cache purge --shared redis://cache.internal
            """)

    @OptionGroup(title: "Sources and cache") var cache: CacheOptions
    @OptionGroup(title: "Sources and cache") var shared: SharedOptions
    @OptionGroup(title: "Messages") var report: ReportOptions

    func run() async throws {
        let count: Int
        if let fleet = try await shared.usableFleet() {
            count = try await fleet.removeAll()
        } else {
            let responses = try await cache.existing()
            count = await responses?.removeAll() ?? 0
            await responses?.close()
        }
        Report(["removed": count], "\(count) removed").show(report)
    }
}
