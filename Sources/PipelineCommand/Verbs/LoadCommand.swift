import ArgumentParser
import Pipeline
import Stages

/// Loads images through a cache policy's pipeline.
struct LoadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "load", "Load images through a cache policy's pipeline.",
        """
        A source is an http or https URL, a data URL, a file, or - for standard input. The output's format follows \
        its extension; - is standard output, in the source's format. For several sources the output is a folder, or a pattern with \
        {name} {w} {h} {ext} {dir} {index} {format}. An existing file is an error unless -n, -y or --newer is given.

        Examples:
          \(Program.name) load https://example.com/photo.jpg -o photo.webp --max-pixel-size 640
          \(Program.name) load *.jpg -o 'thumbnails/{name}-{w}.{ext}' --max-pixel-size 300x200
          \(Program.name) load https://example.com/photo.jpg --policy returnCacheDontLoad
          cat photo.jpg | \(Program.name) load - -o - --max-pixel-size 100 > small.jpg
        """)

    @Argument(help: ArgumentHelp("URLs, files, or - for standard input.", valueName: "source"), completion: .images)
    var sources: [String]

    @Option(
        name: .letter("o"), help: ArgumentHelp("A file, a folder, or - for standard output.", valueName: "out"),
        completion: .file())
    var output: String?

    @Option(
        help: ArgumentHelp("The box that the image has to fit. (default: the source's size)", valueName: "n|wxh"),
        completion: .list(["300", "640", "1280", "640x480"]))
    var maxPixelSize: PixelSize?

    @OptionGroup(title: "Output") var overwrite: OverwriteOptions

    @OptionGroup(title: "Sources and cache") var reading: SourceOptions

    @Option(help: ArgumentHelp("The key in the caches, instead of the URL.", valueName: "id")) var identifier: String?

    @Option(
        help: ArgumentHelp(
            "Keep the image fresh for this long. A time such as 90m or 30d; it overrules the server.", valueName: "time"
        ))
    var expireAfter: TimeArgument?

    @Flag(help: "Show each stage on standard error.") var trace = false

    @OptionGroup(title: "Messages") var reporting: ReportOptions

    func validate() throws {
        if let expireAfter, expireAfter.seconds > 1e10 {
            throw ValidationError("--expire-after takes at most 10000000000 seconds.")
        }
        if sources.count > 1, identifier != nil {
            throw ValidationError("--identifier names one image; give one source.")
        }
        try sources.checkStandardInput()
        try reporting.check(writesResult: OutputPlanner.isStandardOutput(output))
    }

    func run() async throws {
        let resources = reading.resources
        let list = reading.policy.cachePolicy.pipeline(resources, reading.fleet(joinedBy: resources))
        let planner = try output.map {
            try OutputPlanner(output: $0, inPlace: false, format: nil, inputs: sources.count)
        }
        let jobs = try await planner?.jobs(sources) ?? sources.map { Job(reading: $0) }
        try reporting.checkRoot(planner?.root, jobs)
        let run = WorkRun(
            render: { source, _, targets in try await render(source, targets.first, list, resources) },
            rule: overwrite.rule, limits: resources.limits, report: { report($0) })
        try await run.finish(jobs, resources)
    }

    private func render(
        _ source: ImageSource, _ target: OutputTarget?, _ list: ImagePipeline, _ resources: PipelineResources
    ) async throws -> [Rendering] {
        var pipeline = list
        if let target {
            pipeline = pipeline.replacing(Decode.self, with: keepingFrames(source, target, resources))
            let encoder = target.encoder { Encode($0, codecs: Formats.codecs) }
            pipeline = pipeline.inserting(encoder, before: Store.self)
        }
        var request = ImageRequest(source, maxPixelSize: maxPixelSize, identifier: identifier)
        if let expireAfter { request.expiry = .after(.seconds(expireAfter.seconds)) }
        let progress = ProgressLine(source.redacted)
        defer { progress?.clear() }
        let response = try await pipeline.load(request) { progress?.show($0) }
        return [Rendering(target: target, image: response.encoded ?? EncodedImage(bytes: []), response: response)]
    }

    /// Decodes as many frames as were asked for, or as the limits allow, and warns about what is lost.
    private func keepingFrames(
        _ source: ImageSource, _ target: OutputTarget, _ resources: PipelineResources
    ) -> WithinMemory {
        var limits = resources.limits
        let frames = reading.frames?.most
        limits.frames = frames ?? (target.mayHoldMotion ? FramesArgument.all : 1)
        // One source is decoded at a time.
        return WithinMemory(MemoryBudget(bytes: .max), cutsFrames: frames == nil) { [reporting] header, kept in
            let text = header.warning(kept: kept, isChosen: frames != nil, result: target.format(of: header))
            if let text { reporting.warn("\(source.redacted): \(text)") }
        } _: {
            Decode(codecs: resources.codecs, limits: limits, allowTruncated: resources.allowTruncated)
        }
    }

    private func report(_ result: JobResult) {
        if trace || reporting.verbose { StandardError.write("\(result.trace)\n") }
        Report(load: result).show(reporting)
    }
}
