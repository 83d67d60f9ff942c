import Glibc
import Pipeline
import Stages

/// Runs jobs in order, several at a time. All verbs that write images use it.
struct WorkRun: Sendable {
    /// Makes the results of a job for the given targets.
    var render: @Sendable (ImageSource, Job, [OutputTarget]) async throws -> [Rendering]
    var rule = OverwriteOptions.Rule.refuse
    /// Records what was written; `nil` except in `batch` and `watch`.
    var journal: Journal?
    var stopsAtFailure = false
    /// How many jobs run concurrently.
    var width = 4
    var limits = ImageLimits()
    /// The files that all jobs are made of, which no job but its own may replace.
    private(set) var sources: Set<FileFacts.Identity> = []
    let report: @Sendable (JobResult) -> Void

    /// How a job ended.
    private enum Ending {
        case succeeded, failed
        /// It failed as all others would.
        case exhausted
    }

    /// Runs all jobs, or as many as the disk has room for.
    /// - Returns: The number of failed jobs.
    /// - Throws: `CancellationError` if the task is cancelled. No file is left half-written.
    func run(_ jobs: [Job]) async throws -> Int {
        let run = try await keepingSources(of: jobs)
        return try await withThrowingTaskGroup(of: Ending.self) { group in
            var waiting = jobs[...]
            var failures = 0
            func startNext() { if let job = waiting.popFirst() { group.addTask { try await run.finish(job) } } }
            for _ in 0..<max(1, width) { startNext() }
            while let ending = try await group.next() {
                if ending != .succeeded { failures += 1 }
                if ending == .exhausted || ending == .failed && stopsAtFailure {
                    group.cancelAll()
                    while let result = await group.nextResult() {
                        if case .success(let ending) = result, ending != .succeeded { failures += 1 }
                    }
                    try Task.checkCancellation()
                    return failures
                }
                startNext()
            }
            return failures
        }
    }

    /// The same run, which replaces none of the jobs' sources by another's result.
    func keepingSources(of jobs: [Job]) async throws -> WorkRun {
        guard replaces else { return self }
        var run = self
        run.sources = try await BlockingThreads.files.run { _ in Set(jobs.compactMap { $0.file?.identity }) }
        return run
    }

    /// Whether files that exist may be replaced.
    private var replaces: Bool { rule == .overwrite || rule == .ifNewer || journal?.isResuming == true }

    /// Throws if a file is the source of another job.
    func checkIsNoSource(_ path: String, of job: Job) throws(LoadError) {
        guard !sources.isEmpty, let there = FileFacts(path)?.identity, sources.contains(there),
            there != job.file?.identity
        else { return }
        throw LoadError(
            .outputExists, subject: printable(path),
            "The file is also a source of this run, so it isn't overwritten; give another -o.")
    }

    /// Runs one job and reports it.
    private func finish(_ job: Job) async throws -> Ending {
        let start = ContinuousClock.now
        do {
            var result = try await work(on: job)
            result.duration = ContinuousClock.now - start
            report(result)
            return .succeeded
        } catch let error as LoadError {
            report(JobResult(job: job, outcome: .failed(error), duration: ContinuousClock.now - start))
            return error.code == .diskFull ? .exhausted : .failed
        }
    }

    private func work(on job: Job) async throws -> JobResult {
        let targets = try job.targets.get()
        let (wanted, reason) = try await BlockingThreads.files.run { _ in try unwritten(targets, of: job) }
        guard !wanted.isEmpty || targets.isEmpty else { return JobResult(job: job, outcome: .skipped(reason)) }
        let (source, count) = try await source(of: job)
        let key = journal?.key(of: job, source)
        if let journal, let key {
            let isDone = try await BlockingThreads.files.run { _ in journal.isDone(key) }
            if isDone { return JobResult(job: job, outcome: .skipped("done before"), bytesIn: count) }
        }
        let renderings = try await render(source, job, wanted)
        let written = try await BlockingThreads.files.run { try write(renderings, key, job, $0) }
        guard !written.isEmpty || targets.isEmpty else {
            return JobResult(job: job, outcome: .skipped("the output exists"))
        }
        return JobResult(
            job: job, outcome: .done(written), response: renderings.first?.response, bytesIn: count)
    }

    /// The targets that have to be written, as far as their paths are known.
    private func unwritten(_ targets: [OutputTarget], of job: Job) throws -> ([OutputTarget], reason: String) {
        let source = FileFacts(job.input)
        var reason = ""
        let wanted = try targets.filter { target in
            // Before anything is decoded.
            if let path = target.plannedPath, let folder = target.knownFolder,
                let obstacle = FileFacts.obstacle(toWritingIn: folder)
            {
                throw OutputFile.unwritable(path, obstacle)
            }
            guard target.isKnown, let path = target.plannedPath, let facts = FileFacts(path) else { return true }
            try checkIsNoSource(path, of: job)
            switch (facts.kind, rule) {
            case (.regular, .refuse): if journal?.isResuming != true { throw OutputFile.exists(path) }
            case (.regular, .skip):
                reason = "the output exists"
                return false
            case (.regular, .ifNewer) where (source?.modified ?? .min) <= facts.modified:
                reason = "the output is newer"
                return false
            default: break
            }
            return true
        }
        return (wanted, reason)
    }

    /// The source, and the number of its bytes if it is a file. Standard input is read here. So is a file if there is a
    /// journal, whose keys depend on its bytes.
    private func source(of job: Job) async throws -> (ImageSource, Int?) {
        if job.input == "-" {
            let limit = limits.encodedBytes
            let bytes = try await BlockingThreads.files.run { try StandardStream.readInput(limit: limit, $0) }
            return (.bytes(bytes), bytes.count)
        }
        let source = try ImageSource(argument: job.input)
        guard case .file(let path) = source else { return (source, nil) }
        guard journal != nil else { return (source, FileFacts(path)?.size) }
        let limit = limits.encodedBytes
        let file = try await ImagePipeline { ReadFile(byteLimit: limit) }.load(ImageRequest(source))
        let bytes = file.encoded?.bytes ?? []
        return (.bytes(bytes), bytes.count)
    }

    private func write(
        _ renderings: [Rendering], _ key: Digest?, _ job: Job, _ cancellation: WorkCancellation
    ) throws -> [JobResult.Written] {
        let wanted = try renderings.compactMap { rendering -> Output? in
            guard let target = rendering.target else { return nil }
            guard let path = target.path(size: rendering.image.size) else {
                return Output(nil, rendering.image, target.format)
            }
            return try existing(path, job, rendering.image.bytes).map {
                Output(path, rendering.image, target.format, $0)
            }
        }
        if let key, let journal {
            let files = wanted.compactMap { output in output.path.map { ($0, output.image.bytes) } }
            if !files.isEmpty { journal.willWrite(key, job, files) }
        }
        return try wanted.filter { try put($0, cancellation) }.map {
            JobResult.Written(path: $0.path, bytes: $0.image.bytes.count, size: $0.image.size, format: $0.format)
        }
    }

    /// A result that is about to be written.
    private struct Output {
        /// `nil` for standard output.
        let path: String?
        let image: EncodedImage
        let format: ImageFormat
        let existing: OutputFile.Existing

        init(
            _ path: String?, _ image: EncodedImage, _ format: ImageFormat, _ existing: OutputFile.Existing = .kept
        ) {
            (self.path, self.image, self.format, self.existing) = (path, image, format, existing)
        }
    }

    /// Writes a result; false if an existing file was kept.
    private func put(_ output: Output, _ cancellation: WorkCancellation) throws -> Bool {
        guard let path = output.path else {
            try StandardOutput.write(image: output.image.bytes)
            return true
        }
        return try put(output.image.bytes, at: path, output.existing, cancellation)
    }

    private func put(
        _ bytes: [UInt8], at path: String, _ existing: OutputFile.Existing, _ cancellation: WorkCancellation
    ) throws -> Bool {
        do {
            try OutputFile(path).write(bytes, existing: existing, cancellation)
        } catch let error as LoadError where error.code == .outputExists && rule == .skip {
            return false
        }
        return true
    }

    /// Writes a file; false if an existing one was kept.
    func put(_ bytes: [UInt8], at path: String, _ job: Job, _ cancellation: WorkCancellation) throws -> Bool {
        guard let existing = try existing(path, job, bytes) else { return false }
        return try put(bytes, at: path, existing, cancellation)
    }

    /// What may be done to an existing file; `nil` if it is kept.
    /// - Throws: `LoadError` with `outputExists` if no option allows overwriting it.
    private func existing(_ path: String, _ job: Job, _ bytes: [UInt8]) throws -> OutputFile.Existing? {
        try checkIsNoSource(path, of: job)
        switch rule {
        case .overwrite: return .replaced
        case .ifNewer:
            let source = FileFacts(job.input)?.modified ?? .min
            if let facts = FileFacts(path), source <= facts.modified { return nil }
            return .replaced
        case .refuse, .skip:
            guard FileFacts(path)?.kind == .regular else { return .kept }
            if journal?.isOwn(path, job, bytes) == true { return .replaced }
            if rule == .skip { return nil }
            throw journal?.isResuming == true ? OutputFile.differs(path) : OutputFile.exists(path)
        }
    }
}
