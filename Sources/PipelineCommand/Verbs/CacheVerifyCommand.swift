import ArgumentParser
import Essentials
import Stages

/// Checks a cache's folder, and repairs it if asked to.
struct CacheVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "verify", "Find and repair damage in the cache.",
        """
        Reads every stored byte, and changes nothing without --repair. Removed responses are fetched again on \
        demand. Exit status: 0 if nothing is wrong, or everything was repaired; else 1.

        Examples:
          \(Program.name) cache verify
          \(Program.name) cache verify --repair --cache-dir /var/cache/thumbnails
        """)

    @OptionGroup(title: "Sources and cache") var cache: CacheOptions
    @Flag(help: "Repair what can be repaired.") var repair = false
    @Flag(help: "Print the report as JSON.") var json = false

    func run() async throws {
        let responses = cache.responses()
        // Without a cache, repairing would make one.
        let repairs = repair && HTTPCache.exists(in: cache.folder)
        let found = repairs ? try await responses.repair() : try await responses.verify()
        report(found).write(asJSON: json)
        if !found.isSound { throw ExitCode(1) }
    }

    private func report(_ report: CacheReport) -> Report {
        let findings = report.findings.map {
            Report([
                "kind": $0.kind.rawValue, "subject": $0.subject, "detail": $0.detail, "repaired": $0.isRepaired,
            ])
        }
        return Report(
            [
                "folder": cache.folder, "entries": report.entries, "variants": report.variants, "bytes": report.bytes,
                "sound": report.isSound, "findings": findings,
            ], lines(report))
    }

    private func lines(_ report: CacheReport) -> String {
        let found = report.findings.map {
            "\($0.kind.rawValue)\t\($0.subject)\t\($0.detail)" + ($0.isRepaired ? " Repaired." : "")
        }
        let count = report.findings.count
        let verdict =
            report.findings.isEmpty
            ? "nothing is wrong"
            : "\(count) \(count == 1 ? "finding" : "findings"), \(report.findings.count { $0.isRepaired }) repaired"
        return (found + ["\(cache.folder): \(report.entries) entries with \(report.bytes) bytes read, \(verdict)."])
            .joined(separator: "\n")
    }
}
