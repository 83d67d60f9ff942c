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
    /// Whether a result that isn't smaller than its source is left out.
    var onlyIfSmaller = false
    var stopsAtFailure = false
    /// How many jobs run concurrently.
    var width = 4
    var limits = ImageLimits()
    /// Whether a file is a source of any job. No job but its own may replace such a file. It may wait for the list.
    var isSource: (@Sendable (FileFacts.Identity, WorkCancellation) throws -> Bool)?
    let report: @Sendable (JobResult) -> Void

    /// How a job ended.
    private enum Ending: Sendable {
        case succeeded, failed
        /// It failed as all others would.
        case exhausted
    }

    private enum Event: Sendable {
        case ended(Ending)
        /// More jobs; none at the end.
        case more([Job])
    }

    /// Runs all jobs, or as many as the disk has room for.
    /// - Returns: The number of failed jobs.
    /// - Throws: `CancellationError` if the task is cancelled. No file is left half-written.
    func run(_ jobs: [Job]) async throws -> Int {
        let waiting = Lock(jobs)
        return try await keepingSources(of: jobs).run {
            waiting.withLock { jobs in
                defer { jobs = [] }
                return jobs
            }
        }
    }

    /// Runs the jobs of a list that may still be read.
    /// - Parameter more: Returns the next jobs; none at the end.
    func run(_ more: @escaping @Sendable () async throws -> [Job]) async throws -> Int {
        try await withThrowingTaskGroup(of: Event.self) { group in
            var waiting: ArraySlice<Job> = []
            var (failures, running) = (0, 0)
            var (isEnded, isListing) = (false, false)
            func start() {
                while running < max(1, width), let job = waiting.popFirst() {
                    running += 1
                    group.addTask { .ended(try await finish(job)) }
                }
                if !isEnded, !isListing, waiting.isEmpty {
                    isListing = true
                    group.addTask { .more(try await unfinished(more)) }
                }
            }
            start()
            while let event = try await group.next() {
                switch event {
                case .more(let jobs):
                    (isEnded, isListing) = (jobs.isEmpty, false)
                    waiting = jobs[...]
                case .ended(let ending):
                    running -= 1
                    if ending != .succeeded { failures += 1 }
                    if ending == .exhausted || ending == .failed && stopsAtFailure {
                        group.cancelAll()
                        while let result = await group.nextResult() {
                            if case .success(.ended(let ending)) = result, ending != .succeeded { failures += 1 }
                        }
                        try Task.checkCancellation()
                        return failures
                    }
                }
                start()
            }
            return failures
        }
    }

    /// The next jobs that have to be looked at; none at the end. Those whose files are as a journal knows them are
    /// reported together, which takes a fraction of a job's time.
    private func unfinished(_ more: @Sendable () async throws -> [Job]) async throws -> [Job] {
        while true {
            let jobs = try await more()
            guard let journal, journal.isResuming, !jobs.isEmpty else { return jobs }
            let rest = try await BlockingThreads.files.run { cancellation in
                try jobs.filter { job in
                    try cancellation.check()
                    guard !job.isRepeated, journal.isUntouched(job) else { return true }
                    report(JobResult(job: job, outcome: .skipped("done before")))
                    return false
                }
            }
            if !rest.isEmpty { return rest }
        }
    }

    /// The same run, which replaces none of the jobs' sources by another's result.
    func keepingSources(of jobs: [Job]) async throws -> WorkRun {
        guard replaces, isSource == nil else { return self }
        var run = self
        let sources = try await BlockingThreads.files.run { _ in Set(jobs.compactMap { $0.file?.identity }) }
        run.isSource = { file, _ in sources.contains(file) }
        return run
    }

    /// Whether files that exist may be replaced.
    private var replaces: Bool { rule == .overwrite || rule == .ifNewer || journal?.isResuming == true }

    /// Throws if a file is the source of another job.
    func checkIsNoSource(_ path: String, of job: Job, _ cancellation: WorkCancellation) throws {
        guard let isSource, let there = FileFacts(path)?.identity, there != job.file?.identity,
            try isSource(there, cancellation)
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
            if job.file?.isPipe == true {
                try await BlockingThreads.files.run { _ in Interruption.waitShortly() }
                if Interruption.isRequested { throw CancellationError() }
            }
            report(JobResult(job: job, outcome: .failed(error), duration: ContinuousClock.now - start))
            return error.code == .diskFull ? .exhausted : .failed
        }
    }

    private func work(on job: Job) async throws -> JobResult {
        let targets = try job.targets.get()
        if job.isRepeated { return JobResult(job: job, outcome: .skipped("it is listed more than once")) }
        let (wanted, reason) = try await BlockingThreads.files.run { try unwritten(targets, of: job, $0) }
        guard !wanted.isEmpty || targets.isEmpty else { return JobResult(job: job, outcome: .skipped(reason)) }
        let file = journal == nil ? nil : job.file
        let (source, count) = try await source(of: job)
        let key = journal?.key(of: job, source)
        if let journal, let key {
            let isDone = try await BlockingThreads.files.run { _ in journal.isDone(key, job, file) }
            if isDone { return JobResult(job: job, outcome: .skipped("done before"), bytesIn: count) }
        }
        let renderings = try await render(source, job, wanted.map { $0.following(source) }).filter { rendering in
            guard onlyIfSmaller, let count else { return true }
            return rendering.image.bytes.count < count
        }
        if renderings.isEmpty, onlyIfSmaller, !wanted.isEmpty {
            return JobResult(job: job, outcome: .skipped("the result isn't smaller"), bytesIn: count)
        }
        let written = try await BlockingThreads.files.run { try write(renderings, key, job, file, $0) }
        guard !written.isEmpty || targets.isEmpty else {
            return JobResult(job: job, outcome: .skipped("the output exists"))
        }
        return JobResult(
            job: job, outcome: .done(written), response: renderings.first?.response, bytesIn: count)
    }

    /// The targets that have to be written, as far as their paths are known.
    private func unwritten(
        _ targets: [OutputTarget], of job: Job, _ cancellation: WorkCancellation
    ) throws -> ([OutputTarget], reason: String) {
        let source = FileFacts(job.input)
        var reason = ""
        let wanted = try targets.filter { target in
            // Before anything is decoded.
            if let folder = target.knownFolder, let obstacle = FileFacts.obstacle(toWritingIn: folder) {
                throw FileFacts.unwritable(folder, obstacle)
            }
            guard target.isKnown, let path = target.plannedPath, let facts = FileFacts(path) else { return true }
            try checkIsNoSource(path, of: job, cancellation)
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
        _ renderings: [Rendering], _ key: Digest?, _ job: Job, _ file: FileFacts?, _ cancellation: WorkCancellation
    ) throws -> [JobResult.Written] {
        let wanted = try renderings.compactMap { rendering -> Output? in
            guard let target = rendering.target else { return nil }
            guard let path = target.path(size: rendering.image.size) else {
                return Output(nil, rendering.image, target.format)
            }
            return try existing(path, job, rendering.image.bytes, cancellation).map {
                Output(path, rendering.image, target.format, $0)
            }
        }
        if let key, let journal {
            let files = wanted.compactMap { output in output.path.map { ($0, output.image.bytes) } }
            if !files.isEmpty { journal.willWrite(key, job, files) }
        }
        let written = try wanted.filter { try put($0, cancellation) }
        if key != nil { journal?.didWrite(job, file, written.compactMap(\.path)) }
        return written.map {
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
        guard let existing = try existing(path, job, bytes, cancellation) else { return false }
        return try put(bytes, at: path, existing, cancellation)
    }

    /// What may be done to an existing file; `nil` if it is kept.
    /// - Throws: `LoadError` with `outputExists` if no option allows overwriting it.
    private func existing(
        _ path: String, _ job: Job, _ bytes: [UInt8], _ cancellation: WorkCancellation
    ) throws -> OutputFile.Existing? {
        try checkIsNoSource(path, of: job, cancellation)
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
