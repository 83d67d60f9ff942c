import ArgumentParser
import Pipeline
import Stages

/// Loads images through a policy's pipeline, caches and all.
struct LoadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "load",
        abstract: "Load images through a policy's pipeline, caches and all.",
        discussion: """
            A source is an http or https URL, a data URL, a file, or - for standard input. The output's format follows \
            its extension; - is standard output, as PNG. For several sources the output is a folder, or a pattern with \
            {name} {w} {h} {ext} {dir} {index} {format}. A file that exists is left, unless told.

            Examples:
              pipectl load https://example.com/photo.jpg -o photo.webp --max-pixel-size 640
              pipectl load *.jpg -o 'thumbnails/{name}-{w}.{ext}' --max-pixel-size 300x200
              pipectl load https://example.com/photo.jpg --policy returnCacheDontLoad
              cat photo.jpg | pipectl load - -o - --max-pixel-size 100 > small.png
            """)

    @Argument(help: ArgumentHelp("URLs, files, or - for standard input.", valueName: "source"), completion: .file())
    var sources: [String]

    @Option(
        name: [.customShort("o", allowingJoined: true), .long],
        help: ArgumentHelp("A file, a folder, or - for standard output.", valueName: "out"), completion: .file())
    var output: String?

    @Option(
        help: ArgumentHelp("The box that the image has to fit. (default: the source's size)", valueName: "n|wxh"),
        completion: .list(["300", "640", "1280", "640x480"]))
    var maxPixelSize: PixelSize?

    @OptionGroup var overwrite: OverwriteOptions

    @OptionGroup var reading: SourceOptions

    @Option(
        help: ArgumentHelp("Know the image by this in the caches, instead of by its URL.", valueName: "id"),
        completion: .default)
    var identifier: String?

    @Option(help: ArgumentHelp("Keep the image fresh for this long, whatever its server says.", valueName: "seconds"))
    var expireAfter: Double?

    @Flag(help: "Show what happened, stage by stage, on standard error.")
    var trace = false

    @OptionGroup var reporting: ReportOptions

    func validate() throws {
        if let expireAfter, !(0...1e10).contains(expireAfter) {
            throw ValidationError("--expire-after takes seconds from 0 to 10000000000, not \(expireAfter).")
        }
        if sources.count > 1 {
            if identifier != nil { throw ValidationError("--identifier names one image; give one source.") }
            if sources.filter({ $0 == "-" }).count > 1 { throw ValidationError("Standard input can be read once.") }
        }
        if output == "-", reporting.json {
            throw ValidationError("--json and -o - would both write to standard output.")
        }
    }

    func run() async throws {
        let resources = reading.resources
        let (plans, root) = try await BlockingThreads.files.run { _ in try planned() }
        try reporting.checkRoot(root, plans.map(\.job))
        let failures = try await withThrowingTaskGroup(of: Bool.self) { group in
            var waiting = plans[...]
            var failures = 0
            for _ in 0..<4 { if let next = waiting.popFirst() { group.addTask { try await load(next, resources) } } }
            while let succeeded = try await group.next() {
                if !succeeded { failures += 1 }
                if let next = waiting.popFirst() { group.addTask { try await load(next, resources) } }
            }
            return failures
        }
        // An image that was given stale is refreshed beside; what is under way is finished.
        await resources.flights.drain()
        await resources.responses.close()
        if failures > 0 { throw ExitCode(1) }
    }

    private typealias Planned = (job: Job, output: OutputTarget?)

    /// Where each result goes; refuses before any work what would overwrite another.
    private func planned() throws -> ([Planned], root: String?) {
        guard let output else { return (sources.map { (Job(input: $0, targets: .success([])), nil) }, nil) }
        let planner = try OutputPlanner(output: output, inPlace: false, format: nil, inputs: sources.count)
        let jobs = sources.enumerated().map { index, input in
            Job(
                input: input,
                targets: Result { () throws(LoadError) in
                    [try planner.target(input, OutputName(input, index: index + 1))]
                })
        }
        try OutputPlanner.refuseCollisions(jobs)
        return (jobs.map { ($0, try? $0.targets.get().first) }, planner.root)
    }

    private func load(_ planned: Planned, _ resources: PipelineResources) async throws -> Bool {
        let (job, target) = planned
        do {
            _ = try job.targets.get()
            let (response, path) = try await response(job, target, resources)
            report(job, path, response)
            return true
        } catch let error as LoadError {
            report(job, target, error)
            return false
        }
    }

    private func response(
        _ job: Job, _ target: OutputTarget?, _ resources: PipelineResources
    ) async throws -> (LoadResponse, path: String?) {
        var pipeline = reading.policy.cachePolicy.pipeline(resources)
        if let target {
            pipeline = pipeline.inserting(Encode(target.format, codecs: Formats.codecs), before: Store.self)
        }
        var request = ImageRequest(
            try await source(job.input, limit: resources.limits.encodedBytes), identifier: identifier,
            maxPixelSize: maxPixelSize)
        if let expireAfter { request.expiry = .after(.seconds(expireAfter)) }

        let progress = ProgressLine(request.source.redacted)
        defer { progress?.clear() }
        let response = try await pipeline.load(request) { progress?.show($0) }
        guard let target, let bytes = response.encoded?.bytes else { return (response, nil) }
        guard let path = target.path(size: response.size) else {
            try await BlockingThreads.files.run { _ in try StandardOutput.write(image: bytes) }
            return (response, "-")
        }
        let writer = WorkRun(render: { _, _, _ in [] }, rule: overwrite.rule, report: { _ in })
        _ = try await BlockingThreads.files.run { try writer.put(bytes, at: path, job, $0) }
        return (response, path)
    }

    private func source(_ input: String, limit: Int) async throws -> ImageSource {
        guard input == "-" else { return try ImageSource(argument: input) }
        return .bytes(try await BlockingThreads.files.run { try StandardStream.readInput(limit: limit, $0) })
    }

    private func report(_ job: Job, _ path: String?, _ response: LoadResponse) {
        if trace || reporting.verbose { StandardError.write("\(response.trace)\n") }
        if reporting.json {
            StandardOutput.write(JSONLine.of(LoadReport(input: job.input, output: path, response: response)))
        } else if path != "-", !reporting.quiet {
            let size = response.size.map { "\($0)" } ?? ""
            let native = response.nativeSize.map { $0 == response.size ? "" : " of \($0)" } ?? ""
            StandardOutput.write(
                "\(job.shown)\(path.map { " → \(printable($0))" } ?? ""): \(size)\(native), \(response.source.rawValue)"
            )
        }
    }

    private func report(_ job: Job, _ target: OutputTarget?, _ error: LoadError) {
        if trace || reporting.verbose { StandardError.write("\(error.trace)\n") }
        let output = target.map { $0.plannedPath ?? "-" }
        if reporting.json {
            StandardOutput.write(JSONLine.of(LoadReport(input: job.input, output: output, error: error)))
        } else {
            reporting.show(error)
        }
    }
}
