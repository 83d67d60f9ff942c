import ArgumentParser
import Pipeline
import Stages

extension WorkOptions {
    /// Plans the job of each input.
    /// - Throws: `ValidationError` where two results would have one name, or standard input would be read twice.
    func jobs(_ inputs: [String], _ planner: OutputPlanner) throws -> [Job] {
        if inputs.filter({ $0 == "-" }).count > 1 { throw ValidationError("Standard input can be read once.") }
        let jobs = inputs.enumerated().map { index, input in
            Job(
                input: input,
                targets: Result { () throws(LoadError) in
                    [try planner.target(input, OutputName(input, index: index + 1))]
                })
        }
        try OutputPlanner.refuseCollisions(jobs)
        return jobs
    }

    /// Runs jobs by a recipe, and ends the verb.
    /// - Throws: `ExitCode` 1 if one failed; `CancellationError`.
    func run(_ jobs: [Job], _ recipe: Recipe) async throws {
        let reporter = WorkReporter(report)
        let run = WorkRun(
            render: { try await recipe.render($0, $1, $2) }, rule: rule, stopsAtFailure: running.failFast,
            width: running.width, byteLimit: recipe.resources.limits.encodedBytes, report: { reporter.report($0) })
        if running.dryRun { return run.showPlan(jobs) }
        let failures = try await run.run(jobs)
        await recipe.resources.close(after: jobs)
        if failures > 0 { throw ExitCode(1) }
    }
}

extension PipelineResources {
    /// Ends what goes on beside, and writes down what the cache has to, where a job could need it: closing makes the
    /// cache's folder.
    func close(after jobs: [Job]) async {
        guard jobs.contains(where: { $0.input.contains("://") }) else { return }
        await flights.drain()
        await responses.close()
    }
}

extension Recipe {
    /// One result for each target.
    func render(_ source: ImageSource, _ job: Job, _ targets: [OutputTarget]) async throws -> [Rendering] {
        var renderings: [Rendering] = []
        for target in targets {
            do {
                let response = try await pipeline(source, target.format).load(ImageRequest(source))
                guard let image = response.encoded else {
                    throw LoadError(
                        .unexpectedProduct, subject: job.shown, "The pipeline ends with pixels; it has no Encode.")
                }
                renderings.append(
                    Rendering(target: target, image: image, source: response.source, trace: response.trace))
            } catch let error as LoadError {
                throw error.named(job)
            }
        }
        return renderings
    }
}

extension LoadError {
    /// The same about a job's input: bytes that were read before have no name of their own.
    func named(_ job: Job) -> LoadError {
        guard subject.isEmpty || subject.hasPrefix("(") else { return self }
        var error = LoadError(
            code, subject: job.shown, message, httpStatus: httpStatus, retryAfter: retryAfter, underlying: underlying)
        error.stage = stage
        error.trace = trace
        return error
    }
}

extension WorkRun {
    /// Says what a run would write, and why it would leave something.
    func showPlan(_ jobs: [Job]) {
        for job in jobs {
            switch job.targets {
            case .failure(let error): print("\(error)")
            case .success(let targets):
                for target in targets {
                    let path = target.plannedPath.map { printable($0) } ?? "standard output"
                    let isThere = target.isKnown && target.plannedPath.flatMap { FileFacts($0) } != nil
                    let note =
                        switch rule {
                        case _ where !isThere: ""
                        case .refuse: " (exists: an error without -y, -n or --newer)"
                        case .skip: " (exists: left)"
                        case .overwrite: " (exists: overwritten)"
                        case .ifNewer: " (exists: overwritten if the source is newer)"
                        }
                    print("\(job.shown) → \(path)\(note)")
                }
            }
        }
    }
}
