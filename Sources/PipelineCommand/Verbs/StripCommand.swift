import ArgumentParser
import Pipeline
import Stages

/// Removes metadata from files without re-encoding them.
struct StripCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "strip",
        abstract: "Remove metadata without re-encoding.",
        discussion: """
            Takes JPEG, PNG and WebP files. The coded pixels stay the same, byte for byte, in animations too. The \
            colour profile is kept, and so is an orientation other than upright, so the image looks the same. EXIF, \
            XMP, IPTC, comments, text, dates, previews and second images such as gain maps are removed. --gps removes \
            only the GPS position, and second images, which may contain it too. XMP that contains a position is \
            removed as a whole. What isn't a position stays: names of countries and cities in IPTC, and makers' \
            fields such as whether a camera's clock is set to home or abroad.

            Examples:
              \(Program.name) strip photo.jpg -o clean.jpg
              \(Program.name) strip *.jpg --in-place
              \(Program.name) strip album/*.jpg --gps -o 'shared/{name}.{ext}'
            """)

    @Argument(help: ArgumentHelp("Files, or - for standard input.", valueName: "in"), completion: .images)
    var inputs: [String]

    @Flag(help: "Remove only the GPS position. Other metadata is kept.")
    var gps = false

    @OptionGroup(title: "Output") var destination: DestinationOptions
    @OptionGroup(title: "Output") var overwrite: OverwriteOptions
    @OptionGroup(title: "Work") var running: RunOptions
    @OptionGroup(title: "Sources and cache") var time: TimeLimitOptions
    @OptionGroup(title: "Sources and cache") var isolation: IsolationOptions
    @OptionGroup(title: "Messages") var report: ReportOptions

    func validate() throws {
        if inputs.filter({ $0 == "-" }).count > 1 { throw ValidationError("Standard input can be read once.") }
        try report.check(writesResult: OutputPlanner.isStandardOutput(destination.output))
    }

    func run() async throws {
        let planner = try OutputPlanner(
            output: destination.output, inPlace: destination.inPlace, format: nil, inputs: inputs.count)
        let sources = inputs.map { BatchSource(input: $0, folder: OutputName.folder(of: $0)) }
        let jobs = try await planner.jobs(sources, onCollision: nil)
        let reporter = WorkReporter(report)
        let (metadata, limits) = (gps ? StrippedMetadata.location : .all, time.limits)
        let run = WorkRun(
            render: { try await Self.render($0, $1, $2, metadata, limits) },
            rule: destination.inPlace ? .overwrite : overwrite.rule, stopsAtFailure: running.failFast,
            width: running.width, limits: limits, report: { reporter.report($0) })
        if running.dryRun {
            return try await run.showPlan(jobs, report) { native, targets in targets.map { ($0, native) } }
        }
        try report.checkRoot(planner.root, jobs)
        defer { reporter.showFolded() }
        if try await run.run(jobs) > 0 { throw ExitCode(1) }
    }

    private static func render(
        _ source: ImageSource, _ job: Job, _ targets: [OutputTarget], _ metadata: StrippedMetadata,
        _ limits: ImageLimits
    ) async throws -> [Rendering] {
        do {
            guard !source.isRemote else {
                throw LoadError(
                    .unsupportedScheme, subject: job.shown,
                    "strip takes files. For a URL: \(Program.name) fetch URL -o - | \(Program.name) strip - -o OUT.")
            }
            let file = ImagePipeline {
                ReadInline()
                ReadFile()
            }
            let response = try await file.load(ImageRequest(source))
            let bytes = response.encoded?.bytes ?? []
            let time = WorkTime(limit: limits.time)
            let found = try await ImageMetadata(of: bytes, codecs: Formats.codecs, limits: limits, time: time)
            let stripped = try await Formats.codecs.stripped(bytes, of: metadata, within: time)
            return try targets.map { target in
                if case .standardOutput = target.destination {
                } else if target.format != found.format {
                    throw LoadError(
                        .unencodable, subject: job.shown,
                        "strip writes \(found.format.name), and the output is named as \(target.format.name).")
                }
                let image = EncodedImage(
                    bytes: stripped, declaredType: found.format.rawValue, size: found.size, nativeSize: found.size)
                return Rendering(target: target, image: image, response: response)
            }
        } catch let error as LoadError {
            throw error.named(job)
        }
    }
}
