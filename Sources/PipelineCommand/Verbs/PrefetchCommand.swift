import ArgumentParser
import Pipeline
import Stages

/// Downloads images into the cache.
struct PrefetchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "prefetch", "Download images into the cache.",
        """
        Fresh images in the cache are not downloaded again. Responses that aren't images are discarded and count \
        as failures.

        Examples:
          \(Program.name) prefetch https://example.com/a.jpg https://example.com/b.jpg
          \(Program.name) prefetch - < urls.txt
        """)

    @Argument(
        help: ArgumentHelp("http and https URLs, or - for a list. The list is on standard input.", valueName: "url"))
    var urls: [String]

    @Option(name: .letter("j"), help: ArgumentHelp("Load up to n at a time.", valueName: "n")) var jobs = 8

    @OptionGroup(title: "Sources and cache") var source: SourceOptions
    @OptionGroup(title: "Messages") var report: ReportOptions

    func validate() throws {
        try check("--jobs", jobs, 1...1024)
        try urls.checkStandardInput()
    }

    func run() async throws {
        let list = try await BlockingThreads.files.run { try listed($0) }
        let resources = source.resources
        let pipeline = source.policy.cachePolicy.pipeline(resources, source.fleet(joinedBy: resources))
        let display = report.quiet ? nil : ProgressDisplay { (list.count, true) }
        let reporter = WorkReporter(report, bar: display)
        let run = WorkRun(
            render: { source, job, _ in
                guard source.isRemote else {
                    throw LoadError(.unsupportedScheme, subject: job.shown, "prefetch takes http and https URLs.")
                }
                // Decoded to check that it is an image; small, since it is never shown.
                let response = try await pipeline.load(ImageRequest(source, maxPixelSize: 64))
                return [Rendering(target: nil, response: response)]
            }, width: jobs, report: { reporter.report($0) })
        defer {
            display?.hide()
            reporter.showFolded()
            let counts = reporter.soFar
            if !report.quiet, !report.json {
                StandardOutput.write(
                    "\(counts.done) in the cache" + (counts.failed > 0 ? ", \(counts.failed) failed" : ""))
            }
        }
        try await run.finish(list.map { Job(reading: $0) }, resources)
    }

    private func listed(_ cancellation: WorkCancellation) throws -> [String] {
        try urls.flatMap { url -> [String] in
            guard url == "-" else { return [url] }
            return String(decoding: try StandardStream.readInput(limit: .max - 1, cancellation), as: UTF8.self)
                .split(whereSeparator: \.isNewline).map(String.init)
        }
    }
}
