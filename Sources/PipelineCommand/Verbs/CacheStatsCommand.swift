import ArgumentParser
import Stages

/// Shows the number and size of the cache's responses.
struct CacheStatsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Show the number and size of cached responses.",
        discussion: """
            Examples:
              pipectl cache stats
              pipectl cache stats --json --cache-dir /var/cache/thumbnails
            """)

    @OptionGroup(title: "Sources and cache") var cache: CacheOptions
    @Flag(help: "Print a JSON object.") var json = false

    func run() async throws {
        let responses = try await cache.existing()
        let statistics = try await responses?.statistics()
        await responses?.close()
        let report = CacheStatsReport(
            folder: cache.folder, entries: statistics?.entries ?? 0, bytes: statistics?.bytes ?? 0,
            byteLimit: cache.responses().byteLimit, bodyFiles: statistics?.bodyFiles ?? 0)
        if json {
            StandardOutput.write(JSONLine.of(report))
        } else {
            StandardOutput.write(
                "\(report.folder): \(report.entries) responses, \(ByteCount.text(report.bytes)) of at most "
                    + "\(ByteCount.text(report.byteLimit)), \(report.bodyFiles) stored as separate files")
        }
    }
}

/// What the cache holds, as `--json` prints it.
struct CacheStatsReport: Encodable {
    let folder: String
    let entries: Int
    let bytes: Int
    let byteLimit: Int
    let bodyFiles: Int
}
