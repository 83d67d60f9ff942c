import ArgumentParser
import Essentials
import Pipeline
import Stages

#if Fleet
import PipelineShared
#endif

/// Removes responses from the cache.
struct CacheRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "rm", "Remove the responses of URLs, files, keys or tags.",
        """
        A key is what \(Program.name) cache ls --json prints: 64 hexadecimal digits. Exit status: 1 if nothing was stored \
        for one of the arguments. Of a file, only results are stored: give its path as cache ls shows it. Tags are \
        those of the origin's Surrogate-Key and Cache-Tag, and of programs that gave a load some. With --shared a URL or \
        a tag becomes invalid in every tier of every machine; how many processes heard of it is printed too.

        Examples:
          \(Program.name) cache rm https://example.com/photo.jpg
          \(Program.name) cache rm --shared redis://cache.internal --tag product-17
        """)

    @Argument(help: ArgumentHelp("URLs, files or keys.", valueName: "url|file|key")) var names: [String] = []

    @Option(help: ArgumentHelp("Remove the responses with this tag; repeatable.", valueName: "tag"))
    var tag: [String] = []

    @OptionGroup(title: "Sources and cache") var cache: CacheOptions
    @OptionGroup(title: "Sources and cache") var shared: SharedOptions
    @OptionGroup(title: "Messages") var report: ReportOptions

    func validate() throws {
        if names.isEmpty, tag.isEmpty { throw ValidationError("Give a URL, a file, a key or --tag.") }
    }

    func run() async throws {
        let fleet = try await shared.usableFleet()
        defer { fleet?.close() }
        let responses = if let fleet { fleet.cache } else { try await cache.existing() }
        var missing = 0
        for (name, isTag) in names.map({ ($0, false) }) + tag.map({ ($0, true) }) {
            let (count, heard) =
                if let responses { try await remove(name, isTag: isTag, responses, fleet) } else { (0, Int?.none) }
            let name = isTag ? printable(name) : redactedURL(name)
            if count == 0 { missing += 1 }
            let told = heard.map { ", \($0) \($0 == 1 ? "process" : "processes") heard of it" } ?? ""
            if count == 0, !report.json {
                report.show("\(name): nothing is stored\(told).")
            } else {
                Report(["input": name, "removed": count, "heard": heard], "\(name): \(count) removed\(told)").show(
                    report)
            }
        }
        await responses?.close()
        if missing > 0 { throw ExitCode(1) }
    }

    /// - Returns: How many were removed, and how many processes of a fleet heard of it.
    private func remove(
        _ name: String, isTag: Bool, _ responses: HTTPCache, _ fleet: Fleet?
    ) async throws -> (Int, heard: Int?) {
        if !isTag, name.utf8.count == 64, let key = try await key(name, responses) {
            return (await responses.remove(key), nil)
        }
        let target: String
        if isTag {
            target = ResponseTags.target(name)
        } else {
            let source = try? ImageSource(parsing: name)
            let named = if case .url(let url) = source { url.targetText } else { source?.fileTarget }
            guard let named else { return (0, nil) }
            target = named
        }
        guard let fleet else { return (await responses.remove(target: target), nil) }
        // It also clears the other tiers of every machine, which say nothing of how many they had.
        guard let removal = await fleet.removal(of: target) else {
            throw LoadError(
                .unreachable, subject: shared.subject,
                "The shared cache didn't take the removal of \(isTag ? printable(name) : redactedURL(name)). Try it again."
            )
        }
        return (removal.existed ? 1 : 0, removal.heard)
    }

    private func key(_ digits: String, _ responses: HTTPCache) async throws -> SourceKey? {
        var key: SourceKey?
        try await responses.eachPage { page in
            key = page.first { "\($0.key)" == digits }?.key
            return key == nil
        }
        return key
    }
}
