import ArgumentParser
import Stages

#if Fleet
import PipelineShared
#endif

/// Looks into the cache and tidies it.
struct CacheCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache",
        abstract: "Inspect and clean the cache.",
        subcommands: [
            CacheStatsCommand.self, CacheListCommand.self, CacheRemoveCommand.self, CachePruneCommand.self,
            CacheVerifyCommand.self, CachePurgeCommand.self, CachePathCommand.self,
        ])
}

/// Prints the cache's folder.
struct CachePathCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "path", "Print the cache's folder.",
        """
        Examples:
          du -sh "$(\(Program.name) cache path)"
        """)

    @OptionGroup(title: "Sources and cache") var cache: CacheOptions

    func run() { StandardOutput.write(cache.folder) }
}

/// Makes the cache smaller.
struct CachePruneCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "prune", "Remove expired, old or surplus responses.",
        """
        Without options it removes expired responses. --max-size removes the least recently used ones until the \
        rest is no larger than that.

        Examples:
          \(Program.name) cache prune
          \(Program.name) cache prune --older-than 30d --accessed
          \(Program.name) cache prune --older-than 7d --created --max-size 2G
        """)

    @OptionGroup(title: "Age") var filter: CacheFilterOptions

    @Option(help: ArgumentHelp("Leave no more than this, such as 2G.", valueName: "size")) var maxSize: CountArgument?

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

/// Empties the cache.
struct CachePurgeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "purge", "Remove everything from the cache.",
        """
        With --shared it removes all responses and results from the server; machines keep their own tiers. With --blobs \
        it also deletes the objects of the bucket below the prefix, those of images that were removed before included.

        Examples:
          \(Program.name) cache purge
          \(Program.name) cache purge --shared redis://cache.internal
          \(Program.name) cache purge --shared redis://cache.internal --blobs s3://images/fleet
        """)

    @OptionGroup(title: "Sources and cache") var cache: CacheOptions
    @OptionGroup(title: "Sources and cache") var shared: SharedOptions
    @OptionGroup(title: "Messages") var report: ReportOptions

    func run() async throws {
        let count: Int
        if let fleet = try await shared.usableFleet() {
            count = try await fleet.removeAll()
            if let objects = try await fleet.removeAllObjects() {
                let text = "\(count) removed, \(objects) deleted from the bucket"
                return Report(["removed": count, "objects": objects], text).show(report)
            }
        } else {
            let responses = try await cache.existing()
            count = await responses?.removeAll() ?? 0
            await responses?.close()
        }
        Report(["removed": count], "\(count) removed").show(report)
    }
}
