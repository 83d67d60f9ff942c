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
        let failures = try await keepingSources(of: jobs).showPlan(of: jobs, report, needsSize, resolved)
        if failures > 0 { throw ExitCode(1) }
    }

    /// Prints a part of a plan.
    /// - Returns: The number of jobs that couldn't be done.
    func showPlan(
        of jobs: [Job], _ report: ReportOptions, _ needsSize: Bool = false,
        _ resolved: @Sendable (PixelSize, [OutputTarget]) -> [(OutputTarget, PixelSize?)]
    ) async throws -> Int {
        var failures = 0
        for job in jobs where !job.isRepeated {
            do {
                for planned in try await planned(job, needsSize, resolved) { planned.show(job, report) }
            } catch let error as LoadError {
                failures += 1
                Report(job.input, status: "failed", error: error).show(report)
            }
        }
        return failures
    }

    private struct Planned: Sendable {
        let path: String?
        let note: String?

        func show(_ job: Job, _ options: ReportOptions) {
            let place = path.map { printable($0) } ?? "standard output"
            Report(
                job.input, output: path ?? "-", status: "planned", reason: note,
                "\(job.shown) → \(place)\(note.map { " (\($0))" } ?? "")"
            ).show(options)
        }
    }

    private func planned(
        _ job: Job, _ needsSize: Bool, _ resolved: @Sendable (PixelSize, [OutputTarget]) -> [(OutputTarget, PixelSize?)]
    ) async throws -> [Planned] {
        let targets = try job.targets.get()
        let source = job.input == "-" ? nil : try ImageSource(argument: job.input)
        guard case .file(let path)? = source else {
            return try await planned(targets.map { ($0, nil) }, job)
        }
        guard FileFacts(path) != nil else {
            throw LoadError(.fileNotFound, subject: job.shown, "There is no such file.")
        }
        guard path.withPath({ access($0, R_OK) }) == 0 else {
            throw LoadError(.fileUnreadable, subject: job.shown, "The file's permissions forbid reading it.")
        }
        guard needsSize || targets.contains(where: { !$0.isKnown }) else {
            return try await planned(targets.map { ($0, nil) }, job)
        }
        let limit = limits.encodedBytes
        let file = try await ImagePipeline { ReadFile(byteLimit: limit) }.load(ImageRequest(.file(path)))
        let size = try await size(of: file.encoded?.bytes ?? [], job)
        return try await planned(resolved(size, targets), job)
    }

    private func planned(_ targets: [(OutputTarget, PixelSize?)], _ job: Job) async throws -> [Planned] {
        try await BlockingThreads.files.run { cancellation in
            try targets.map { try planned($0, $1, job, cancellation) }
        }
    }

    private func size(of bytes: [UInt8], _ job: Job) async throws -> PixelSize {
        do {
            return try await ImageMetadata(of: bytes, codecs: Formats.codecs, limits: limits).size
        } catch let error as LoadError {
            throw error.named(job)
        }
    }

    private func planned(
        _ target: OutputTarget, _ size: PixelSize?, _ job: Job, _ cancellation: WorkCancellation
    ) throws -> Planned {
        let path = target.path(size: size)
        guard target.isKnown || size != nil, let path, FileFacts(path) != nil else {
            return Planned(path: path, note: nil)
        }
        try checkIsNoSource(path, of: job, cancellation)
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
