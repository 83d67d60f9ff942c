import ArgumentParser
import Essentials
import Pipeline
import Stages

#if Fleet
import PipelineShared
#endif

/// Lists what is in the cache.
struct CacheListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "ls", "List the responses in the cache.",
        """
        A line has the status, the size, the time when the response was stored or last confirmed, the time when it \
        was last used, and the URL without the values of its query.

        Examples:
          \(Program.name) cache ls
          \(Program.name) cache ls --older-than 30d --accessed
          \(Program.name) cache ls --json | jq .bytes
          \(Program.name) cache ls --shared redis://cache.internal
        """)

    @OptionGroup(title: "Age") var filter: CacheFilterOptions
    @OptionGroup(title: "Sources and cache") var cache: CacheOptions
    @OptionGroup(title: "Sources and cache") var shared: SharedOptions
    @Flag(help: "Print a JSON object on a line for each entry.") var json = false

    func run() async throws {
        let fleet = try await shared.usableFleet()
        // The tier is closed with its fleet.
        defer { fleet?.close() }
        let found = if let fleet { fleet.cache } else { try await cache.existing() }
        guard let responses = found else { return }
        let cutoff = filter.cutoff(now: Date.now)
        try await responses.eachPage { page in
            for entry in page where cutoff.map({ filter.time(of: entry) < $0 }) ?? true { show(entry) }
            return true
        }
        await responses.close()
    }

    private func show(_ entry: CacheEntry) {
        let (url, bytes) = (redactedURL(entry.target), ByteCount.text(entry.bodyLength))
        let (stored, accessed) = (entry.stored.formatted(.iso8601), entry.accessed.formatted(.iso8601))
        let padding = String(repeating: " ", count: max(0, 9 - bytes.count))
        Report(
            [
                "key": "\(entry.key)", "url": url, "status": entry.status, "bytes": entry.bodyLength, "stored": stored,
                "accessed": accessed, "freshUntil": entry.freshUntil?.formatted(.iso8601),
            ], "\(entry.status) \(padding)\(bytes)  \(stored)  \(accessed)  \(url)"
        ).write(asJSON: json)
    }
}
