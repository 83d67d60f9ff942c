import ArgumentParser
import LibC
import Pipeline
import Stages

/// Works through folders, patterns and lists of images.
struct BatchCommand: WorkVerb {
    static let configuration = CommandConfiguration(
        "batch", "Process folders, patterns and lists of images.",
        """
        -o is a pattern, or a folder in which the source tree is recreated. By default about one image per core \
        is processed at a time, as far as memory allows. An existing file is an error unless -n, -y or --newer is \
        given. --resume continues after Ctrl-C, kill -9 or a power cut, and replaces only files that it wrote with \
        the same options. On a terminal a bar shows the progress. A folder means every image in it, recognized by \
        extension or content; hidden files and symbolic links to folders are left out. The first images are \
        processed while the list is still read. The last line of --json is the summary, of the kind summary.

        Examples:
          \(Program.name) batch photos -r -s '1600x1600>' -f webp -o web
          \(Program.name) batch 'a/**/*.jpg' --ops 'resize=800,sharpen' -o 'b/{name}-{w}.jpg'
          find . -name '*.png' -print0 | \(Program.name) batch --files0-from - -f avif -o out
          \(Program.name) batch photos -r -s 400x400 -o thumbs --shard 2/8
        """)

    @Argument(
        help: ArgumentHelp(
            "Folders, files, patterns, URLs, or - for a list. The list is on standard input.", valueName: "in"),
        completion: .images)
    var inputs: [String] = []

    @Flag(name: [.customShort("r"), .long], help: "Include subfolders.") var recursive = false

    @Option(
        help: ArgumentHelp(
            "Read the list from a file, or -. Zero bytes end the names; - is standard input.", valueName: "file"),
        completion: .file())
    var files0From: String?

    @Option(help: ArgumentHelp("Take one part of the list, such as 2/8.", valueName: "i/n")) var shard: ShardArgument?

    @OptionGroup(title: "Transforms") var operations: OperationOptions
    @OptionGroup(title: "Resuming") var journaling: JournalOptions
    @OptionGroup(title: "Output") var destination: DestinationOptions
    @OptionGroup(title: "Output format") var format: FormatOption
    @OptionGroup(title: "Output format") var encoding: EncodingOptions
    @OptionGroup(title: "Output") var overwrite: OverwriteOptions
    @OptionGroup var results: ResultOptions
    @OptionGroup(title: "Work") var running: RunOptions
    @OptionGroup(title: "Sources and cache") var source: SourceOptions
    @OptionGroup(title: "Messages") var report: ReportOptions

    func validate() throws {
        if inputs.isEmpty, files0From == nil {
            throw ValidationError("Give a folder, a pattern, a list, or --files0-from.")
        }
        if inputs.filter({ $0 == "-" }).count + (files0From == "-" ? 1 : 0) > 1 {
            throw ValidationError("Standard input can be read once.")
        }
        if OutputPlanner.isStandardOutput(destination.output) {
            throw ValidationError("Standard output takes one image; give a folder or a pattern.")
        }
        if destination.output == nil, !destination.inPlace { throw ValidationError("Give -o OUT, or --in-place.") }
    }

    func run() async throws {
        let planner = try planner(
            output: destination.output, inPlace: destination.inPlace, inputs: inputs.count, asFolder: true)
        let (recipe, rule) = (try recipe(), overwrite.rule)
        let list = SourceList(
            shard: shard,
            keepsFiles: destination.inPlace || journaling.resume || rule == .overwrite || rule == .ifNewer)
        let display = report.quiet || running.dryRun ? nil : ProgressDisplay { (list.total, list.isComplete) }
        // The thread ends with the list, or soon after the batch.
        async let reading: Void = read(list, display)
        try await report.ending {
            try await run(BatchJobs(list, planner, self, shard), list, recipe, planner.root, display)
        }
        await reading
    }

    private func run(
        _ jobs: BatchJobs, _ list: SourceList, _ recipe: Recipe, _ root: String?, _ display: ProgressDisplay?
    ) async throws {
        let reporter = WorkReporter(report, bar: display)
        var run = self.run(recipe, reporter, inPlace: destination.inPlace)
        run.isSource = { try list.contains($0, $1) }
        if running.dryRun {
            var failures = 0
            while case let part = try await jobs.next(), !part.isEmpty {
                failures += try await run.showPlan(of: part, report, planned: plannedSize())
            }
            if failures > 0 { throw ExitCode(1) }
            return
        }
        let first = try await jobs.next()
        try report.checkRoot(root, first)
        let options = try recipe.signature
        run.journal = try await BlockingThreads.files.run { _ in
            try journaling.open(
                output: destination.output ?? inputs.joined(separator: "\n"), shard: shard, options: options)
        }
        let start = ContinuousClock.now
        defer {
            run.journal?.sync()
            display?.hide()
            reporter.showFolded()
            BatchSummary(reporter.soFar, total: list.total, time: ContinuousClock.now - start).report.show(report)
        }
        let begin = Lock<[Job]?>(first)
        let failures = try await run.run {
            let first = begin.withLock { $0.take() }
            return if let first { first } else { try await jobs.next() }
        }
        await recipe.resources.close(if: jobs.haveURLs)
        if failures > 0 { throw ExitCode(1) }
    }

    /// Reads all sources, in the order in which they were given.
    private func read(_ list: SourceList, _ display: ProgressDisplay?) async {
        do {
            try await BlockingThreads(name: "batch-list", count: 1).run { cancellation in
                list.end(Result { try add(to: list, display, cancellation) })
            }
        } catch {
            list.end(.failure(error))
        }
    }

    private func add(to list: SourceList, _ display: ProgressDisplay?, _ cancellation: WorkCancellation) throws {
        let except = destination.output.flatMap { FileFacts.resolved($0) }
        let sources = BatchSources(recursive: recursive, except: except)
        func add(_ source: BatchSource) throws {
            guard list.add(source) % 1000 == 0 else { return }
            try cancellation.check()
            display?.show()
        }
        for input in inputs {
            if input == "-" {
                try sources.eachInInput(endedBy: UInt8(ascii: "\n"), cancellation, add)
            } else {
                try sources.each(input, add)
            }
            try cancellation.check()
        }
        if files0From == "-" {
            try sources.eachInInput(endedBy: 0, cancellation, add)
        } else if let files0From {
            try sources.eachInFile(files0From, add)
        }
    }
}
