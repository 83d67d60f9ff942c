import ArgumentParser
import Stages

/// Prints the cache's folder.
struct CachePathCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "path",
        abstract: "Print the cache's folder.",
        discussion: """
            Examples:
              du -sh "$(\(Program.name) cache path)"
            """)

    @OptionGroup(title: "Sources and cache") var cache: CacheOptions

    func run() { StandardOutput.write(cache.folder) }
}
