import ArgumentParser
import Foundation
import LibC
import Pipeline
import Stages

/// Shows images in the terminal.
struct ViewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "view", "Show images in the terminal.",
        """
        Uses the best method of the terminal: kitty's graphics, iTerm's inline images, sixels, or else coloured \
        half blocks. Images are shrunk to fit, and animations show their first frame.

        Examples:
          \(Program.name) view photo.jpg
          \(Program.name) view *.png --rows 12
          curl -s https://example.com/a.webp | \(Program.name) view -
        """)

    /// How images are shown.
    enum Graphics: String, ExpressibleByArgument, CaseIterable { case auto, kitty, iterm, sixel, blocks }

    @Argument(help: ArgumentHelp("Files, URLs, or - for standard input.", valueName: "in"), completion: .images)
    var inputs: [String]

    @Option(help: "How to show images. One of auto, kitty, iterm, sixel and blocks.") var graphics = Graphics.auto

    @Option(help: ArgumentHelp("Use up to n columns. (default: the terminal's)", valueName: "n")) var columns: Int?

    @Option(help: ArgumentHelp("Use up to n rows. (default: the terminal's, less two)", valueName: "n")) var rows: Int?

    @OptionGroup(title: "Sources and cache") var source: SourceOptions
    @OptionGroup(title: "Messages") var report: ReportOptions

    func validate() throws {
        try check("--columns", columns, 1...10_000)
        try check("--rows", rows, 1...10_000)
        try inputs.checkStandardInput()
        if report.json { throw ValidationError("view shows images; info --json prints their metadata.") }
    }

    func run() async throws {
        guard StandardOutput.isTerminal, Environment["TERM"] != "dumb" else {
            throw ValidationError("view needs a terminal that shows colours; thumb and convert write files.")
        }
        let screen = try await BlockingThreads.files.run { _ in
            TerminalScreen(graphics, columns: columns, rows: rows)
        }
        var recipe = Recipe(source, budget: MemoryBudget(bytes: 512_000_000))
        recipe.operations = Chain([FitGeometry(screen.box)])
        if screen.sendsFiles { recipe.encode = { Encode($0, codecs: Formats.codecs) } }
        let jobs = inputs.map { Job(reading: $0) }
        var failures = 0
        for job in jobs {
            if jobs.count > 1, !report.quiet { StandardOutput.write(job.shown) }
            do {
                let response = try await recipe.response(job.input, .png)
                if report.verbose { StandardError.write("\(response.trace)\n") }
                StandardOutput.write(bytes: Array(try await screen.text(of: response).utf8))
            } catch let error as LoadError {
                failures += 1
                report.show(error.named(job))
            }
        }
        await recipe.resources.close(after: jobs)
        if failures > 0 { throw ExitCode(1) }
    }
}
