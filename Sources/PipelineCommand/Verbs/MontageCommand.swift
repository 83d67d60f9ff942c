import ArgumentParser
import Pipeline
import PipelineFile
import Stages

/// Puts images on one contact sheet.
struct MontageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "montage", "Put images on one contact sheet.",
        """
        Images are placed in rows, in the given order. Each is decoded no larger than its tile, so memory holds \
        only the sheet and the tiles in progress. Folders and patterns stand for their images. An image that can't \
        be read leaves its tile empty, and the exit status is 1. --max-pixels limits the sheet too.

        Examples:
          \(Program.name) montage album/*.jpg -o sheet.jpg
          \(Program.name) montage album -o sheet.png -s 160x120 --columns 8 --gap 4 --background '#222'
          \(Program.name) montage a.jpg b.jpg -o sheet.webp -s 400 --fill
        """)

    @Argument(help: ArgumentHelp("Files, folders, patterns or URLs.", valueName: "in"), completion: .images)
    var inputs: [String]

    @Option(
        name: .letter("o"), help: ArgumentHelp("A file, or - for standard output.", valueName: "out"),
        completion: .file())
    var output: String

    @Option(
        name: .letter("s", "tile"), help: ArgumentHelp("The size of a tile. (default: 200x200)", valueName: "n|wxh"),
        completion: .list(["200", "400x300"]))
    var tile: PixelSize?

    @Option(help: ArgumentHelp("Tiles in a row. (default: about as many as rows)", valueName: "n")) var columns: Int?

    @Option(help: ArgumentHelp("Pixels between tiles, and around them.", valueName: "n")) var gap = 8

    @Option(
        help: ArgumentHelp("#rgb, #rrggbb, #rrggbbaa, white, black or clear. (default: white)", valueName: "colour"),
        completion: .list(["white", "black", "clear"]), transform: { try Self.color($0) })
    var background = Color.white

    @Flag(help: "Fill the tiles, and cut off the excess.") var fill = false

    @OptionGroup(title: "Output format") var format: FormatOption
    @OptionGroup(title: "Output format") var encoding: EncodingOptions
    @OptionGroup(title: "Output") var overwrite: OverwriteOptions
    @OptionGroup(title: "Work") var running: RunOptions
    @OptionGroup(title: "Sources and cache") var source: SourceOptions
    @OptionGroup(title: "Messages") var report: ReportOptions

    private static func color(_ text: String) throws -> Color {
        guard let color = Color(text: text) else {
            throw ValidationError("--background takes a colour such as #ff8000, white, black or clear.")
        }
        return color
    }

    func validate() throws {
        if inputs.contains("-") { throw ValidationError("montage takes files, folders and URLs.") }
        if let tile, max(tile.width, tile.height) > 10_000 {
            throw ValidationError("-s takes a tile of at most 10000x10000.")
        }
        if let columns, !(1...100_000 ~= columns) { throw ValidationError("--columns takes 1 to 100000.") }
        try check("--gap", gap, 0...10_000)
        if encoding.gamut == .source { throw ValidationError("A contact sheet is sRGB; leave --gamut out.") }
        try report.check(writesResult: OutputPlanner.isStandardOutput(output))
    }

    func run() async throws {
        let inputs = inputs
        let sources = try await BlockingThreads.files.run { _ in
            var found: [BatchSource] = []
            for input in inputs { BatchSources(recursive: false, except: nil).each(input) { found.append($0) } }
            return found
        }
        guard let first = sources.first else { throw ValidationError("The folders hold no images.") }
        let planner = try OutputPlanner(
            output: output, inPlace: false, format: format.chosen?.format,
            standardFormat: encoding.defaults.format?.format
                ?? (OutputPlanner.isStandardOutput(output) ? Formats.standard : nil), inputs: 1)
        let jobs = try await planner.jobs([BatchSource(input: first.input, folder: ".")])
        try encoding.check(jobs, report)
        let isSource = try await BlockingThreads.files.run { _ in
            guard let path = try? jobs.first?.targets.get().first?.plannedPath, let output = FileFacts(path)?.identity
            else { return false }
            return sources.contains { Job(reading: $0.input).file?.identity == output }
        }
        if isSource { throw ValidationError("The output is also one of the images; give another -o.") }
        let failures = Lock(0)
        let run = WorkRun(
            render: { _, _, targets in
                let (image, count) = try await sheet(of: sources)
                failures.withLock { $0 = count }
                return try await targets.eachRendering {
                    try await Rendering($0, options: encoding.options($0.format)) {
                        ContinueTime(within: source.limits.time)
                        Given(image)
                        if background.alpha == 255 { Flatten(background) }
                    }
                }
            }, rule: overwrite.rule, limits: source.limits,
            report: { show($0, sources.count, failures.withLock(\.self)) })
        if running.dryRun {
            return try await run.showPlan(jobs, report) { _, targets in targets.map { ($0, nil) } }
        }
        if try await run.run(jobs) > 0 || failures.withLock(\.self) > 0 { throw ExitCode(1) }
    }

    /// Makes the sheet, and counts the images that couldn't be read.
    private func sheet(of sources: [BatchSource]) async throws -> (DecodedImage, failures: Int) {
        let columns = min(columns ?? Int(Double(sources.count).squareRoot().rounded(.up)), sources.count)
        let sheet = ContactSheet(
            tile: tile ?? PixelSize(width: 200, height: 200), columns: columns,
            rows: (sources.count + columns - 1) / columns, gap: gap, background: background)
        let most = source.maxPixels?.count ?? 50_000_000
        guard let size = sheet.size, size.width.saturatingTimes(size.height) <= min(most, 1 << 40) else {
            throw LoadError(
                .tooManyPixels, subject: output,
                "The sheet would have \(sheet.size.map { "\($0)" } ?? "too many") pixels, and \(most) are allowed. "
                    + "Take smaller tiles or fewer images, or raise --max-pixels.")
        }
        var recipe = Recipe(source, budget: running.budget)
        recipe.operations = sheet.operations(fills: fill)
        let pixels = Lock(try await BlockingThreads.decoding.run { _ in sheet.pixels(size) })
        var failures = 0
        try await withThrowingTaskGroup(of: LoadError?.self) { group in
            var waiting = Array(sources.enumerated())[...]
            func startNext() {
                guard let (index, source) = waiting.popFirst() else { return }
                group.addTask { [recipe] in
                    do {
                        if let error = source.error { throw error }
                        let image = try await recipe.image(source.input)
                        try await BlockingThreads.decoding.run { _ in
                            try pixels.withLock { try sheet.draw(image, at: index, into: &$0, width: size.width) }
                        }
                        return nil
                    } catch let error as LoadError {
                        return error
                    }
                }
            }
            for _ in 0..<running.width { startNext() }
            while let error = try await group.next() {
                if let error {
                    failures += 1
                    if running.failFast { throw error }
                    report.show(error)
                }
                startNext()
            }
        }
        await recipe.resources.close(after: sources.map { Job(reading: $0.input) })
        return (DecodedImage(size: size, layout: .rgba, pixels: pixels.withLock(\.self)), failures)
    }

    private func show(_ result: JobResult, _ count: Int, _ failures: Int) {
        let (reason, file, error) = (result.reason, result.written.first, result.error)
        func text() -> String? {
            if let reason { return "\(printable(output)): \(reason)" }
            guard let file, let path = file.path else { return nil }
            let all = count == 1 ? "1 image" : "\(count) images"
            let images = failures > 0 ? "\(count - failures) of \(all)" : all
            return "\(images) → \(printable(path)): \(file.size.map { "\($0)" } ?? ""), \(ByteCount.text(file.bytes))"
        }
        Report(
            [
                "images": count, "failed": failures, "status": result.status, "output": file.map { $0.path ?? "-" },
                "reason": reason, "width": file?.size?.width, "height": file?.size?.height, "bytes": file?.bytes,
            ], error: error, text()
        ).show(report)
    }
}
