import ArgumentParser

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
