import ArgumentParser
import Pipeline
import Stages

/// Makes an image in several widths and formats, decoding it once.
struct SrcsetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "srcset", "Make several widths and formats of an image.",
        """
        --html prints a <picture>, or an <img> for a single format, to paste into a page. Browsers that know none \
        of the other formats use the last one. The URLs are the paths of the files as written. Add the text for \
        alt yourself.

        Nothing is enlarged: widths above the source's are left out, or replaced by the source's own if all are. \
        Without -o, results are written next to the source, as {dir}/{name}-{w}.{ext}.

        Examples:
          \(Program.name) srcset hero.jpg -w 320,640,1280 -f avif,webp,jpg
          \(Program.name) srcset hero.jpg -w 640,1280 -f avif,jpg --html --sizes '(min-width: 800px) 50vw, 100vw'
          \(Program.name) srcset hero.jpg -w 640,1280 -f webp -o 'static/{name}-{w}.{ext}'
        """)

    @Argument(help: ArgumentHelp("Files, URLs, or - for standard input.", valueName: "in"), completion: .images)
    var inputs: [String]

    @Option(name: .letter("w"), help: ArgumentHelp("The widths in pixels.", valueName: "n,n…"))
    var widths: CommaList<Int>

    @Option(
        name: [.customShort("f", allowingJoined: true), .long],
        help: ArgumentHelp(
            "\(Formats.words(Formats.writable, "or")). (default: as the source is)", valueName: "format,…"),
        completion: .list(Formats.writable))
    var formats: CommaList<WritableFormat>?

    @Option(
        name: .letter("o"), help: ArgumentHelp("A pattern with {w} and {ext} in it.", valueName: "out"),
        completion: .file())
    var output: String = "{dir}/{name}-{w}.{ext}"

    @Flag(help: "Print HTML for each image. It replaces the line for each file.") var html = false

    @Option(help: ArgumentHelp("How wide the image is shown, for --html. (default: 100vw)", valueName: "sizes"))
    var sizes: String?

    @OptionGroup(title: "Output format") var encoding: EncodingOptions
    @OptionGroup(title: "Output") var overwrite: OverwriteOptions
    @OptionGroup(title: "Work") var running: RunOptions
    @OptionGroup(title: "Sources and cache") var source: SourceOptions
    @OptionGroup(title: "Messages") var report: ReportOptions

    func validate() throws {
        guard widths.values.allSatisfy({ 1...1_000_000 ~= $0 }) else {
            throw ValidationError("-w takes widths from 1 to 1000000.")
        }
        if html, report.json { throw ValidationError("--html and --json exclude each other; give one.") }
        if html, overwrite.noClobber || overwrite.newer {
            throw ValidationError("--html names the files that are written; give -y instead of -n or --newer.")
        }
        if sizes != nil, !html { throw ValidationError("--sizes is for --html.") }
    }

    func run() async throws {
        try inputs.checkStandardInput()
        let pattern =
            FileFacts.isFolder(output) || output.utf8.last == UInt8(ascii: "/")
            ? try OutputPattern("{name}-{w}.{ext}", in: output) : try OutputPattern(output)
        let jobs = try OutputPlanner.refuseCollisions(
            try await BlockingThreads.files.run { _ in planned(pattern) })
        try encoding.check(jobs, report)
        let reporter = WorkReporter(report)
        let encoding = encoding
        var recipe = Recipe(source, budget: running.budget)
        recipe.operations = Chain([FitGeometry(.width(widths.values.max() ?? 1))])
        let run = WorkRun(
            render: { [recipe] in try await Self.render($0, $1, $2, recipe, encoding, reporter) },
            plannedWarning: { [recipe] source, target in
                let shared = recipe.shared(by: [target], encoding)
                return try await shared.plannedWarning(source, target) { shared.warning($0, $1, target, encoding) }
            }, rule: overwrite.rule,
            stopsAtFailure: running.failFast, width: running.width,
            limits: recipe.resources.limits,
            report: { html ? showHTML($0, reporter) : reporter.report($0) })
        try await run.carryOut(jobs, in: pattern.root, running, reporter, recipe.resources, needsSize: true) {
            native, targets in
            Self.wanted(targets, native.width).map {
                ($0, Geometry.width($0.width ?? native.width).target(of: native))
            }
        }
    }

    /// Prints the HTML of an image. Failures go to standard error.
    private func showHTML(_ result: JobResult, _ reporter: WorkReporter) {
        guard case .done(let files) = result.outcome else { return reporter.report(result) }
        StandardOutput.write(PictureElement(files, sizes: sizes ?? "100vw"))
    }

    /// A job for each input, with a target for each width and format.
    private func planned(_ pattern: OutputPattern) -> [Job] {
        inputs.enumerated().map { index, input in
            let name = OutputName(input, index: index + 1).sniffing(input)
            let targets = (formats?.values.map(\.format) ?? [encoding.defaults.format?.format ?? name.format]).flatMap {
                format in
                Set(widths.values).sorted().map {
                    OutputTarget(destination: .file(pattern, name), format: format, width: $0)
                }
            }
            return Job(input: input, targets: .success(targets))
        }
    }

    /// The targets that don't enlarge the source. If all do, the narrowest, with the source's own width.
    private static func wanted(_ targets: [OutputTarget], _ native: Int) -> [OutputTarget] {
        let narrowest = targets.compactMap(\.width).min() ?? 1
        return targets.filter { ($0.width ?? 1) <= max(native, narrowest) }.map { target in
            var target = target
            target.width = min(target.width ?? native, native)
            return target
        }
    }

    /// Decodes once, as wide as the widest result, then makes all results at the same time.
    private static func render(
        _ source: ImageSource, _ job: Job, _ targets: [OutputTarget], _ recipe: Recipe, _ encoding: EncodingOptions,
        _ reporter: WorkReporter
    ) async throws -> [Rendering] {
        let provenance = Lock<ProvenanceOutcome?>(nil)
        let recipe = recipe.shared(by: targets, encoding)
        let response = try await job.naming {
            let format = targets.map(\.format).first(where: \.holdsMotion) ?? Formats.standard
            let list = try recipe.pipeline(source, OutputTarget(format)) { header, kept in
                for text in Set(targets.compactMap { recipe.warning(header, kept, $0, encoding) }).sorted() {
                    reporter.warn(text, of: job)
                }
                if header.hasProvenance { provenance.withLock { $0 = .removed } }
            }
            return try await list.load(recipe.request(source))
        }
        guard let image = response.image else { return [] }
        let native = image.nativeSize.width
        let wanted = wanted(targets, native)
        return try await withThrowingTaskGroup(of: (Int, Rendering).self) { group in
            for (index, target) in wanted.enumerated() {
                group.addTask {
                    var rendering = try await Rendering(
                        target, options: encoding.options(target.format), from: response
                    ) {
                        ContinueTime(response.workTime, within: recipe.resources.limits.time)
                        Given(image)
                        FitGeometry(.width(target.width ?? native))
                    }
                    rendering.provenance = provenance.withLock(\.self)
                    return (index, rendering)
                }
            }
            var renderings: [(Int, Rendering)] = []
            for try await rendering in group { renderings.append(rendering) }
            return renderings.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }
}

extension Recipe {
    /// The recipe of pixels that are decoded once for several results: they keep what any of them can hold, and each encoder
    /// converts what it can't. A gain map is applied only if all can hold HDR, since the base picture is a better SDR one.
    fileprivate func shared(by targets: [OutputTarget], _ encoding: EncodingOptions) -> Recipe {
        let encoders = targets.map { encoding.encoder($0.format) }
        var recipe = self
        recipe.gamut = encoding.gamut ?? .source
        recipe.depth = encoding.depth ?? (encoders.contains(where: \.keepsDepth) ? .source : .eight)
        let isKept = encoders.contains(where: \.keepsGainMap)
        switch encoding.gainMap {
        case .apply where encoders.allSatisfy(\.keepsHDR): recipe.gainMap = .apply
        case .drop: recipe.gainMap = .drop
        case .apply, .keep, nil: recipe.gainMap = isKept ? .keep : .drop
        }
        return recipe
    }

    /// The warning of one of the results.
    fileprivate func warning(
        _ header: ImageHeader, _ kept: Int, _ target: OutputTarget, _ encoding: EncodingOptions
    ) -> String? {
        let encoder = encoding.encoder(target.format)
        var options = DecodeOptions()
        options.keepsColors = gamut != .sRGB && encoder.keepsColors
        options.keepsDepth = depth != .eight && encoder.keepsDepth
        options.keepsHDR = options.keepsColors && options.keepsDepth && encoder.keepsHDR
        options.makesHDR = gainMap == .apply && encoder.keepsHDR
        options.keepsGainMap = gainMap == .keep && encoder.keepsGainMap
        if encoding.gainMap != .drop, !encoder.keepsGainMap { options.stageDroppingGainMap = encoder.name }
        return header.keeping(options).warning(
            kept: kept, isChosen: frames != nil, result: target.format, mapsColors: gamut == .sRGB,
            isReduced: encoding.depth == .eight, isBaseAlone: encoding.gainMap == .drop)
    }
}

extension EncodingOptions {
    fileprivate func encoder(_ format: ImageFormat) -> Encode {
        Encode(format, options: options(format), codecs: Formats.codecs)
    }
}
