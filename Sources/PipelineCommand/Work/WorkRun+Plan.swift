import ArgumentParser
import LibC
import Pipeline
import Stages

extension WorkRun {
    /// Returns the targets for a source of a size, each with the size of its image if that is known.
    typealias Planning = @Sendable (PixelSize, [OutputTarget]) -> [(OutputTarget, PixelSize?)]

    /// Does the jobs, or prints what that would write, and ends the verb.
    /// - Parameters:
    ///   - root: The folder of all results, if it is known.
    ///   - resources: The resources to close.
    ///   - needsSize: Whether the targets depend on the source's size.
    /// - Throws: `ExitCode` 1 if a job failed; `CancellationError`.
    func carryOut(
        _ jobs: [Job], in root: String?, _ running: RunOptions, _ reporter: WorkReporter,
        _ resources: PipelineResources? = nil, needsSize: Bool = false, planned: Planning
    ) async throws {
        if running.dryRun {
            return try await showPlan(jobs, reporter.options, needsSize: needsSize, planned: planned)
        }
        try reporter.options.checkRoot(root, jobs)
        defer { reporter.showFolded() }
        try await finish(jobs, resources)
    }

    /// Does the jobs, closes the resources, and ends the verb.
    /// - Throws: `ExitCode` 1 if a job failed; `CancellationError`.
    func finish(_ jobs: [Job], _ resources: PipelineResources?) async throws {
        let failures = try await run(jobs)
        await resources?.close(after: jobs)
        if failures > 0 { throw ExitCode(1) }
    }

    /// Prints what a run would write, and what would happen to existing files.
    /// - Parameter needsSize: Whether the targets depend on the source's size.
    /// - Throws: `ExitCode` 1 if a job couldn't be done.
    func showPlan(
        _ jobs: [Job], _ report: ReportOptions, needsSize: Bool = false, planned: Planning
    ) async throws {
        let run = try await keepingSources(of: jobs)
        if try await run.showPlan(of: jobs, report, needsSize, planned: planned) > 0 { throw ExitCode(1) }
    }

    /// What is planned for a job: the paths of its results, and what would happen to files there.
    private typealias Planned = [(path: String?, note: String?)]

    /// Prints a part of a plan.
    /// - Returns: The number of jobs that couldn't be done.
    func showPlan(
        of jobs: [Job], _ report: ReportOptions, _ needsSize: Bool = false, planned: Planning
    ) async throws -> Int {
        var failures = 0
        // Many at a time: going to another thread and back takes longer than looking at a job's files there.
        for start in stride(from: 0, to: jobs.count, by: 256) {
            let part = jobs[start..<min(start + 256, jobs.count)].filter { !$0.isRepeated }
            let plans = try await BlockingThreads.files.run { cancellation in
                part.map { job in Result { try plan(job, needsSize, cancellation) } }
            }
            for (job, plan) in zip(part, plans) {
                do {
                    let known = try plan.get()
                    let results = if let known { known } else { try await measured(job, planned) }
                    show(results, of: job, report)
                } catch let error as LoadError {
                    failures += 1
                    Report(job.input, status: "failed", error: error).show(report)
                }
            }
        }
        return failures
    }

    private func show(_ results: Planned, of job: Job, _ report: ReportOptions) {
        for (path, note) in results {
            let place = path.map { printable($0) } ?? "standard output"
            Report(
                job.input, output: path ?? "-", status: "planned", reason: note,
                "\(job.shown) → \(place)\(note.map { " (\($0))" } ?? "")"
            ).show(report)
        }
    }

    /// Plans a job whose results' names don't depend on its image's size; `nil` for any other.
    private func plan(_ job: Job, _ needsSize: Bool, _ cancellation: WorkCancellation) throws -> Planned? {
        let targets = try job.targets.get()
        if job.input != "-", case .file(let path) = try ImageSource(argument: job.input) {
            guard FileFacts(path) != nil else {
                throw LoadError(.fileNotFound, subject: job.shown, "There is no such file.")
            }
            guard path.withPath({ access($0, R_OK) }) == 0 else {
                throw LoadError(.fileUnreadable, subject: job.shown, "The file's permissions forbid reading it.")
            }
            if needsSize || targets.contains(where: { !$0.isKnown }) { return nil }
        }
        return try targets.map { ($0.path(size: nil), try note($0, nil, job, cancellation)) }
    }

    /// Plans a job with the size of its image, which is a file.
    private func measured(_ job: Job, _ planned: Planning) async throws -> Planned {
        let source = try ImageSource(argument: job.input)
        let bytes = try await source.response(limit: limits.encodedBytes).encoded?.bytes ?? []
        let targets = try job.targets.get()
        let (sized, warnings) = try await job.naming {
            let metadata = try await ImageMetadata(of: bytes, codecs: Formats.codecs, limits: limits)
            let sized = planned(metadata.size, targets)
            var warnings: [String?] = []
            for (target, _) in sized {
                warnings.append(try await plannedWarning?(source, target))
            }
            return (sized, warnings)
        }
        return try await BlockingThreads.files.run { cancellation in
            try zip(sized, warnings).map { planned, warning in
                let (target, size) = planned
                let notes = [try note(target, size, job, cancellation), warning].compactMap(\.self)
                return (target.path(size: size), notes.isEmpty ? nil : notes.joined(separator: "; "))
            }
        }
    }

    /// What would happen to a file that exists; `nil` without one.
    private func note(
        _ target: OutputTarget, _ size: PixelSize?, _ job: Job, _ cancellation: WorkCancellation
    ) throws -> String? {
        guard target.isKnown || size != nil, let path = target.path(size: size), FileFacts(path) != nil else {
            return nil
        }
        try checkIsNoSource(path, of: job, cancellation)
        return switch rule {
        case .refuse: "exists: an error without -y, -n or --newer"
        case .skip: "exists: left"
        case .overwrite: "exists: overwritten"
        case .ifNewer: "exists: overwritten if the source is newer"
        }
    }
}
