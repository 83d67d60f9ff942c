import ArgumentParser
import Glibc
import Pipeline
import Stages

/// Works through folders, patterns and lists of images.
struct BatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "batch",
        abstract: "Process folders, patterns and lists of images.",
        discussion: """
            -o is a folder, which mirrors the tree of the sources, or a pattern. By default about one image per core \
            is processed at a time, as far as memory allows. An existing file is an error unless -n, -y or --newer is \
            given. --resume continues after Ctrl-C, kill -9 or a power cut, and replaces only files that it wrote with \
            the same options. On a terminal a bar shows the progress. A folder stands for the files whose extension or \
            first bytes are an image's.

            Examples:
              \(Program.name) batch photos -r -s '1600x1600>' -f webp -o web
              \(Program.name) batch 'a/**/*.jpg' --ops 'resize=800,sharpen' -o 'b/{name}-{w}.jpg'
              find . -name '*.png' -print0 | \(Program.name) batch --files0-from - -f avif -o out
              \(Program.name) batch photos -r -s 400x400 -o thumbs --shard 2/8
            """)

    @Argument(
        help: ArgumentHelp(
            "Folders, files, patterns, URLs, or - for a list. The list is on standard input.", valueName: "in"),
        completion: .file())
    var inputs: [String] = []

    @Flag(name: [.customShort("r"), .long], help: "Include subfolders.")
    var recursive = false

    @Option(
        help: ArgumentHelp(
            "Read the list from a file, or -. Zero bytes end the names; - is standard input.", valueName: "file"),
        completion: .file())
    var files0From: String?

    @Option(help: ArgumentHelp("Take one part of the list, such as 2/8.", valueName: "i/n"), completion: .default)
    var shard: ShardArgument?

    @OptionGroup(title: "Transforms") var operations: OperationOptions
    @OptionGroup(title: "Resuming") var journaling: JournalOptions
    @OptionGroup(title: "Output") var destination: DestinationOptions
    @OptionGroup var work: WorkOptions

    func validate() throws {
        if inputs.isEmpty, files0From == nil {
            throw ValidationError("Give a folder, a pattern, a list, or --files0-from.")
        }
        if inputs.filter({ $0 == "-" }).count + (files0From == "-" ? 1 : 0) > 1 {
            throw ValidationError("Standard input can be read once.")
        }
        if destination.output == "-" {
            throw ValidationError("Standard output takes one image; give a folder or a pattern.")
        }
        if destination.output == nil, !destination.inPlace { throw ValidationError("Give -o OUT, or --in-place.") }
    }

    func run() async throws {
        let sources = try await BlockingThreads.files.run { try listed($0) }
        let planner = try work.planner(
            output: destination.output, inPlace: destination.inPlace, inputs: sources.count, asFolder: true)
        let jobs = try await planner.jobs(sources, onCollision: work.onCollision).filter {
            shard?.contains($0.input) ?? true
        }
        try work.check(jobs)
        var recipe = work.recipe()
        try operations.apply(to: &recipe)
        try await run(jobs, recipe, planner)
    }

    private func run(_ jobs: [Job], _ recipe: Recipe, _ planner: OutputPlanner) async throws {
        let display = work.report.quiet || work.running.dryRun ? nil : ProgressDisplay(total: jobs.count)
        let reporter = WorkReporter(work.report, bar: display)
        var run = work.workRun(recipe, reporter, inPlace: destination.inPlace)
        if work.running.dryRun {
            return try await run.showPlan(jobs, work.report) { native, targets in
                targets.map { ($0, operations.plannedSize(of: native)) }
            }
        }
        try work.report.checkRoot(planner.root, jobs)
        run.journal = try await journal(options: try recipe.signature)
        let start = ContinuousClock.now
        defer {
            run.journal?.sync()
            display?.hide()
            reporter.showFolded()
            show(reporter.soFar, of: jobs.count, in: ContinuousClock.now - start)
        }
        let failures = try await run.run(jobs)
        await recipe.resources.close(after: jobs)
        if failures > 0 { throw ExitCode(1) }
    }

    private func journal(options: Digest) async throws -> Journal? {
        do {
            return try await BlockingThreads.files.run { _ in
                try journaling.open(
                    output: destination.output ?? inputs.joined(separator: "\n"), shard: shard, options: options)
            }
        } catch let error as LoadError {
            work.report.show(error)
            throw ExitCode(1)
        }
    }

    private func show(_ counts: WorkCounts, of total: Int, in time: Duration) {
        let summary = BatchSummary(counts, total: total, time: time)
        if work.report.json {
            StandardOutput.write(JSONLine.of(summary))
        } else if !work.report.quiet {
            StandardOutput.write(summary)
        }
    }

    /// All sources, in the order in which they were given.
    private func listed(_ cancellation: WorkCancellation) throws -> [BatchSource] {
        let except = destination.output.flatMap { FileFacts.resolved($0) }
        let sources = BatchSources(recursive: recursive, except: except)
        var found: [BatchSource] = []
        do {
            for input in inputs {
                if input == "-" {
                    found += sources.list(
                        try StandardStream.readInput(limit: .max - 1, cancellation), endedBy: UInt8(ascii: "\n"))
                } else {
                    found += sources.sources(input)
                }
                try cancellation.check()
            }
            if let files0From {
                let bytes =
                    files0From == "-"
                    ? try StandardStream.readInput(limit: .max - 1, cancellation)
                    : try StandardStream.readFile(files0From)
                guard let bytes else {
                    let why = String(cString: strerror(errno))
                    throw LoadError(.fileUnreadable, subject: printable(files0From), "The list can't be read: \(why).")
                }
                try cancellation.check()
                found += sources.list(bytes, endedBy: 0)
            }
        } catch let error as LoadError {
            work.report.show(error)
            throw ExitCode(1)
        }
        return found
    }
}
