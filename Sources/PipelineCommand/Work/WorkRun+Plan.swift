import ArgumentParser
import Glibc
import Pipeline
import Stages

extension WorkRun {
    /// Prints what a run would write, and what would happen to existing files.
    /// - Parameters:
    ///   - needsSize: Whether the targets depend on the source's size.
    ///   - resolved: Returns the targets for a source of a size, each with the size of its image if that is known.
    /// - Throws: `ExitCode` 1 if a job couldn't be done.
    func showPlan(
        _ jobs: [Job], _ report: ReportOptions, needsSize: Bool = false,
        resolved: @Sendable (PixelSize, [OutputTarget]) -> [(OutputTarget, PixelSize?)]
    ) async throws {
        var failures = 0
        let run = try await keepingSources(of: jobs)
        for job in jobs {
            do {
                for planned in try await run.planned(job, needsSize, resolved) { planned.show(job, report) }
            } catch let error as LoadError {
                failures += 1
                if report.json {
                    let result = JobResult(job: job, outcome: .failed(error))
                    for report in WorkReport.all(result) { StandardOutput.write(JSONLine.of(report)) }
                } else {
                    report.show(error)
                }
            }
        }
        if failures > 0 { throw ExitCode(1) }
    }

    private struct Planned {
        let path: String?
        let note: String?

        func show(_ job: Job, _ report: ReportOptions) {
            if report.json {
                var line = WorkReport(input: job.input, output: path ?? "-", status: "planned")
                line.reason = note
                StandardOutput.write(JSONLine.of(line))
            } else if !report.quiet {
                let path = path.map { printable($0) } ?? "standard output"
                StandardOutput.write("\(job.shown) → \(path)\(note.map { " (\($0))" } ?? "")")
            }
        }
    }

    private func planned(
        _ job: Job, _ needsSize: Bool, _ resolved: @Sendable (PixelSize, [OutputTarget]) -> [(OutputTarget, PixelSize?)]
    ) async throws -> [Planned] {
        let targets = try job.targets.get()
        let source = job.input == "-" ? nil : try ImageSource(argument: job.input)
        guard case .file(let path)? = source else {
            return try targets.map { try planned($0, nil, job) }
        }
        guard FileFacts(path) != nil else {
            throw LoadError(.fileNotFound, subject: job.shown, "There is no such file.")
        }
        guard path.withPath({ access($0, R_OK) }) == 0 else {
            throw LoadError(.fileUnreadable, subject: job.shown, "The file's permissions forbid reading it.")
        }
        guard needsSize || targets.contains(where: { !$0.isKnown }) else {
            return try targets.map { try planned($0, nil, job) }
        }
        let limit = limits.encodedBytes
        let file = try await ImagePipeline { ReadFile(byteLimit: limit) }.load(ImageRequest(.file(path)))
        let size = try await size(of: file.encoded?.bytes ?? [], job)
        return try resolved(size, targets).map { try planned($0.0, $0.1, job) }
    }

    private func size(of bytes: [UInt8], _ job: Job) async throws -> PixelSize {
        do {
            return try await ImageMetadata(of: bytes, codecs: Formats.codecs, limits: limits).size
        } catch let error as LoadError {
            throw error.named(job)
        }
    }

    private func planned(_ target: OutputTarget, _ size: PixelSize?, _ job: Job) throws(LoadError) -> Planned {
        let path = target.path(size: size)
        guard target.isKnown || size != nil, let path, FileFacts(path) != nil else {
            return Planned(path: path, note: nil)
        }
        try checkIsNoSource(path, of: job)
        let note =
            switch rule {
            case .refuse: "exists: an error without -y, -n or --newer"
            case .skip: "exists: left"
            case .overwrite: "exists: overwritten"
            case .ifNewer: "exists: overwritten if the source is newer"
            }
        return Planned(path: path, note: note)
    }
}
