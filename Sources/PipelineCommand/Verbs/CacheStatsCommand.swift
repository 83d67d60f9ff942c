import ArgumentParser
import PipelineShared
import Stages

/// Shows the number and size of the cache's responses.
struct CacheStatsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Show the number and size of cached responses.",
        discussion: """
            Examples:
              \(Program.name) cache stats
              \(Program.name) cache stats --json --cache-dir /var/cache/thumbnails
              \(Program.name) cache stats --shared redis://cache.internal
            """)

    @OptionGroup(title: "Sources and cache") var cache: CacheOptions
    @OptionGroup(title: "Sources and cache") var shared: SharedOptions
    @Flag(help: "Print a JSON object.") var json = false

    func run() async throws {
        if let fleet = shared.fleet() {
            return show(try await fleet.inspectServer(), try await fleet.cache.statistics())
        }
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

    /// Shows a shared tier. Redis counts all bytes that it uses, and knows no limit of one service.
    private func show(_ server: FleetServer, _ statistics: CacheStatistics?) {
        let report = SharedStatsReport(
            server: shared.subject, entries: statistics?.entries ?? 0, bytes: server.usedBytes,
            byteLimit: server.byteLimit)
        if json { return StandardOutput.write(JSONLine.of(report)) }
        let limit = report.byteLimit == 0 ? "without a limit" : "of at most \(ByteCount.text(report.byteLimit))"
        StandardOutput.write(
            "\(report.server): \(report.entries) responses, \(ByteCount.text(report.bytes)) \(limit) in the server")
    }
}

/// What a shared tier holds, as `--json` prints it.
struct SharedStatsReport: Encodable {
    let server: String
    let entries: Int
    /// The bytes of everything in the server.
    let bytes: Int
    /// The server's `maxmemory`; 0 for none.
    let byteLimit: Int
}

/// What the cache holds, as `--json` prints it.
struct CacheStatsReport: Encodable {
    let folder: String
    let entries: Int
    let bytes: Int
    let byteLimit: Int
    let bodyFiles: Int
}
