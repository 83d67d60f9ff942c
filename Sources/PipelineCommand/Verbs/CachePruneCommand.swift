import ArgumentParser
import Stages

/// Makes the cache smaller.
struct CachePruneCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Remove expired, old or surplus responses.",
        discussion: """
            Without options it removes expired responses. --max-size removes the least recently used ones until the \
            rest is no larger than that.

            Examples:
              \(Program.name) cache prune
              \(Program.name) cache prune --older-than 30d --accessed
              \(Program.name) cache prune --older-than 7d --created --max-size 2G
            """)

    @OptionGroup(title: "Age") var filter: CacheFilterOptions

    @Option(help: ArgumentHelp("Leave no more than this, such as 2G.", valueName: "size"))
    var maxSize: CountArgument?

    @OptionGroup(title: "Sources and cache") var cache: CacheOptions
    @OptionGroup(title: "Messages") var report: ReportOptions

    func run() async throws {
        guard let responses = try await cache.existing(byteLimit: maxSize?.count) else {
            return say(removed: 0, left: 0)
        }
        let before = try await responses.statistics()?.entries ?? 0
        // With only a size, nothing is removed for its age.
        await responses.cleanUp(filter.stale ?? (maxSize == nil ? .expired : .unused(.seconds(1e9))))
        let after = try await responses.statistics()?.entries ?? 0
        await responses.close()
        say(removed: max(0, before - after), left: after)
    }

    private func say(removed: Int, left: Int) {
        Report(["removed": removed, "left": left], "\(removed) removed, \(left) left").show(report)
    }
}
