import ArgumentParser
import Pipeline
import Stages

extension WorkOptions {
    /// Plans the job of each input.
    /// - Throws: `ValidationError` if two results would have the same path, or standard input would be read twice.
    func jobs(_ inputs: [String], _ planner: OutputPlanner) async throws -> [Job] {
        if inputs.filter({ $0 == "-" }).count > 1 { throw ValidationError("Standard input can be read once.") }
        let sources = inputs.map { BatchSource(input: $0, folder: OutputName.folder(of: $0)) }
        return try await planner.jobs(sources, onCollision: results.onCollision)
    }

    /// Runs jobs by a recipe, and ends the verb.
    /// - Parameter size: Returns the size of the result for a source of a size, if it is known beforehand.
    /// - Throws: `ExitCode` 1 if a job failed; `CancellationError`.
    func run(
        _ jobs: [Job], _ recipe: Recipe, _ planner: OutputPlanner, inPlace: Bool,
        size: @escaping @Sendable (PixelSize) -> PixelSize?
    ) async throws {
        try check(jobs)
        let reporter = WorkReporter(report)
        let run = workRun(recipe, reporter, inPlace: inPlace)
        if running.dryRun {
            return try await run.showPlan(jobs, report) { native, targets in targets.map { ($0, size(native)) } }
        }
        try report.checkRoot(planner.root, jobs)
        defer { reporter.showFolded() }
        let failures = try await run.run(jobs)
        await recipe.resources.close(after: jobs)
        if failures > 0 { throw ExitCode(1) }
    }

    /// Makes the run of a recipe's jobs.
    func workRun(_ recipe: Recipe, _ reporter: WorkReporter, inPlace: Bool = false) -> WorkRun {
        WorkRun(
            render: { try await recipe.render($0, $1, $2, reporter) }, rule: inPlace ? .overwrite : overwrite.rule,
            onlyIfSmaller: results.onlyIfSmaller, stopsAtFailure: running.failFast, width: running.width,
            limits: recipe.resources.limits, report: { reporter.report($0) })
    }

    /// Checks the options for encoding against the formats of the results, and warns of those without effect.
    func check(_ jobs: [Job]) throws { try encoding.check(jobs, report) }
}

extension EncodingOptions {
    /// Checks the options against the formats of the results, and warns of those without effect.
    func check(_ jobs: [Job], _ report: ReportOptions) throws {
        let targets = jobs.flatMap { (try? $0.targets.get()) ?? [] }.filter { !$0.followsSource }
        try check(Set(targets.map(\.format)), report)
    }

    /// Checks the options against formats, and warns of those without effect if a report is given.
    func check(_ formats: Set<ImageFormat>, _ report: ReportOptions?) throws {
        let warnings = try check(formats)
        for warning in warnings { report?.warn(warning) }
    }
}

extension ReportOptions {
    /// Reports a folder that can't be written to once, instead of once for each result.
    func checkRoot(_ root: String?, _ jobs: [Job]) throws {
        // In JSON each result has its own object with the error.
        guard !json, let root, !jobs.isEmpty, let obstacle = FileFacts.obstacle(toWritingIn: root) else { return }
        show(FileFacts.unwritable(root, obstacle))
        throw ExitCode(1)
    }
}

extension PipelineResources {
    /// Waits for background work and closes the cache, but only after jobs with URLs, since closing makes the cache's
    /// folder.
    func close(after jobs: [Job]) async {
        await close(if: jobs.contains { $0.input.hasScheme })
    }

    /// Waits for background work and closes the cache if anything came from the network.
    func close(if isUsed: Bool) async {
        guard isUsed else { return }
        await flights.drain()
        await responses.close()
    }
}

extension Recipe {
    /// The warning about what is lost; `nil` if nothing is lost against the user's will.
    func warning(_ header: ImageHeader, _ kept: Int, _ result: ImageFormat) -> String? {
        Losses.warning(header, kept: kept, isChosen: frames != nil, result: result)
    }

    /// Makes one result for each target.
    func render(
        _ source: ImageSource, _ job: Job, _ targets: [OutputTarget], _ reporter: WorkReporter
    ) async throws -> [Rendering] {
        var renderings: [Rendering] = []
        for target in targets {
            do {
                let list = try pipeline(source, target) { header, kept in
                    let text = warning(header, kept, target.format(of: header))
                    if let text { reporter.warn("\(job.shown): \(text)") }
                }
                let response = try await list.load(ImageRequest(source))
                guard let image = response.encoded else {
                    throw LoadError(
                        .unexpectedProduct, subject: job.shown, "The pipeline ends with pixels; it has no Encode.")
                }
                let made = target.following(.bytes(image.bytes))
                renderings.append(Rendering(target: made, image: image, response: response))
            } catch let error as LoadError {
                throw error.named(job)
            }
        }
        return renderings
    }
}

extension LoadError {
    /// The same error with the job's input as its subject, since bytes that were read before have no name.
    func named(_ job: Job) -> LoadError {
        guard subject.isEmpty || subject.hasPrefix("(") else { return self }
        var error = LoadError(
            code, subject: job.shown, message, httpStatus: httpStatus, retryAfter: retryAfter, underlying: underlying)
        error.stage = stage
        error.trace = trace
        return error
    }
}
