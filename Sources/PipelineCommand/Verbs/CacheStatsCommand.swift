import ArgumentParser
import Stages

#if Fleet
import PipelineShared
#endif

/// Shows the number and size of the cache's responses.
struct CacheStatsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "stats", "Show the number and size of cached responses.",
        """
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
        let (entries, bytes) = (statistics?.entries ?? 0, statistics?.bytes ?? 0)
        let (byteLimit, bodyFiles) = (cache.responses().byteLimit, statistics?.bodyFiles ?? 0)
        Report(
            [
                "folder": cache.folder, "entries": entries, "bytes": bytes, "byteLimit": byteLimit,
                "bodyFiles": bodyFiles,
            ],
            "\(cache.folder): \(entries) responses, \(ByteCount.text(bytes)) of at most "
                + "\(ByteCount.text(byteLimit)), \(bodyFiles) stored as separate files"
        ).write(asJSON: json)
    }

    /// Shows a shared tier. Redis counts all bytes that it uses, and knows no limit of one service.
    private func show(_ server: FleetServer?, _ statistics: CacheStatistics?) {
        let entries = statistics?.entries ?? 0
        let size = server.map { server in
            let limit = server.byteLimit == 0 ? "without a limit" : "of at most \(ByteCount.text(server.byteLimit))"
            return ", \(ByteCount.text(server.usedBytes)) \(limit) in the server"
        }
        Report(
            [
                "server": shared.subject, "entries": entries, "bytes": server?.usedBytes,
                "byteLimit": server?.byteLimit,
            ], "\(shared.subject): \(entries) responses\(size ?? "")"
        ).write(asJSON: json)
    }
}
