import ArgumentParser
import Pipeline
import Stages

/// Processes the images of a folder as they arrive.
struct WatchCommand: WorkVerb {
    static let configuration = CommandConfiguration(
        "watch", "Process a folder's images as they arrive.",
        """
        Starts with the images in the folder, then waits for more. An image is processed once it is closed after \
        writing, moved there or linked. Symbolic links are not followed. Like a resumed batch it skips finished \
        images, and replaces only files that it wrote with the same options. Failures don't end it unless \
        --fail-fast is given; Ctrl-C does.

        Examples:
          \(Program.name) watch inbox -s '1600x1600>' -f webp -o web
          \(Program.name) watch uploads -r --ops 'resize=800,sharpen' -o 'small/{dir}/{name}.{ext}'
        """)

    @Argument(help: ArgumentHelp("The folder.", valueName: "folder"), completion: .directory) var folder: String

    @Flag(name: [.customShort("r"), .long], help: "Watch subfolders too.") var recursive = false

    @Option(
        name: .letter("o"),
        help: ArgumentHelp(
            "A folder outside of the watched one. Or a pattern with {name} {w} {h} {ext} {dir} {format}.",
            valueName: "out"), completion: .file())
    var output: String

    @OptionGroup(title: "Resuming") var record: JournalFileOption
    @OptionGroup(title: "Transforms") var operations: OperationOptions
    @OptionGroup(title: "Output format") var format: FormatOption
    @OptionGroup(title: "Output format") var encoding: EncodingOptions
    @OptionGroup(title: "Output") var overwrite: OverwriteOptions
    @OptionGroup var results: ResultOptions
    @OptionGroup(title: "Work") var running: RunOptions
    @OptionGroup(title: "Sources and cache") var source: SourceOptions
    @OptionGroup(title: "Messages") var report: ReportOptions

    func validate() throws {
        if OutputPlanner.isStandardOutput(output) {
            throw ValidationError("Standard output takes one image; give a folder or a pattern.")
        }
        if output.contains("{index}") {
            throw ValidationError("{index} is a place in a list, and here there is none; use {name}.")
        }
        if results.onCollision != .error {
            throw ValidationError("--on-collision needs the whole list; here a second source of one result fails.")
        }
    }

    func run() async throws {
        // As for several inputs, since more may come.
        let planner = try planner(output: output, inputs: 2, asFolder: true)
        guard let root = FileFacts.resolved(folder), FileFacts.isFolder(folder) else {
            report.show(LoadError(.fileNotFound, subject: printable(folder), "There is no such folder."))
            throw ExitCode(1)
        }
        if try Self.lies(planner.root ?? ".", in: root) {
            throw ValidationError(
                "The output lies in the watched folder, where results would be sources; name another.")
        }
        let recipe = try recipe()
        let options = try recipe.signature
        try await report.ending {
            let threads = BlockingThreads(name: "watch", count: 1)
            let (watch, journal) = try await threads.run { [folder, recursive, record, output] _ in
                (
                    try FolderWatch(folder, recursive: recursive),
                    try record.open(output: output, options: options, resumes: true)
                )
            }
            try await run(watch, on: threads, recipe, planner, journal)
        }
    }

    /// Processes arriving images until the folder is removed or the task is cancelled.
    private func run(
        _ watch: FolderWatch, on threads: BlockingThreads, _ recipe: Recipe, _ planner: OutputPlanner,
        _ journal: Journal?
    ) async throws {
        let reporter = WorkReporter(report, folds: false)
        var run = self.run(recipe, reporter)
        run.journal = journal
        defer { journal?.sync() }
        if !report.quiet { StandardError.write("\(Program.name): watching \(printable(folder)); Ctrl-C ends.\n") }
        // Each warning is given once.
        var checked: Set<ImageFormat> = []
        let waits = !running.dryRun
        while true {
            let paths = try await threads.run { try watch.next($0, waits: waits) }
            var jobs: [Job] = []
            for path in paths {
                let source = BatchSource(input: "\(folder)/\(path)", folder: FileFacts.folder(of: path) ?? ".")
                // Each by itself: if two have the same result, the second fails and the others go on.
                jobs += try await planner.jobs([source])
            }
            if !waits { return try await run.showPlan(jobs, report, planned: plannedSize()) }
            let unchecked = jobs.filter { job in
                (try? job.targets.get())?.contains { checked.insert($0.format).inserted } ?? false
            }
            try encoding.check(unchecked, report)
            if try await run.run(jobs) > 0, running.failFast { throw ExitCode(1) }
        }
    }

    /// Whether a folder, which need not exist yet, lies in another or is it.
    /// - Throws: `ValidationError` if a part of it that doesn't exist yet is followed by `..`.
    static func lies(_ path: String, in root: String) throws -> Bool {
        var there = path.isEmpty ? "." : path
        while FileFacts.resolved(there) == nil {
            if there == ".." || there.hasSuffix("/..") {
                throw ValidationError(
                    "\(printable(path)) goes through a folder that doesn't exist; name it without '..'.")
            }
            there = FileFacts.folder(of: there) ?? "."
        }
        let resolved = FileFacts.resolved(there) ?? there
        return root == "/" || resolved == root || resolved.utf8.starts(with: (root + "/").utf8)
    }
}
