import Glibc
import Pipeline
import Stages

/// Takes jobs one after the other, several at a time: the one engine of all verbs that write images.
struct WorkRun: Sendable {
    /// Makes the results of a job, for those targets that are wanted.
    var render: @Sendable (ImageSource, Job, [OutputTarget]) async throws -> [Rendering]
    var rule = OverwriteOptions.Rule.refuse
    /// Remembers what was written; `nil` outside of a batch.
    var journal: Journal?
    var makesFolders = false
    var stopsAtFailure = false
    /// How many jobs are under way together.
    var width = 4
    var byteLimit = 64_000_000
    let report: @Sendable (JobResult) -> Void

    /// Runs all jobs.
    /// - Returns: how many failed.
    /// - Throws: `CancellationError` if the task is cancelled; what was under way then left nothing half-written.
    func run(_ jobs: [Job]) async throws -> Int {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            var waiting = jobs[...]
            var failures = 0
            func startNext() { if let job = waiting.popFirst() { group.addTask { try await finish(job) } } }
            for _ in 0..<max(1, width) { startNext() }
            while let succeeded = try await group.next() {
                if !succeeded { failures += 1 }
                if !succeeded, stopsAtFailure {
                    group.cancelAll()
                    while let result = await group.nextResult() { if case .success(false) = result { failures += 1 } }
                    try Task.checkCancellation()
                    return failures
                }
                startNext()
            }
            return failures
        }
    }

    /// Runs one job and tells of it; false if it failed.
    private func finish(_ job: Job) async throws -> Bool {
        let start = ContinuousClock.now
        do {
            var result = try await work(on: job)
            result.duration = ContinuousClock.now - start
            report(result)
            return true
        } catch let error as LoadError {
            report(
                JobResult(job: job, outcome: .failed(error), duration: ContinuousClock.now - start, trace: error.trace))
            return false
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
        let written = try await BlockingThreads.files.run { _ in try write(renderings, key, job) }
        guard !written.isEmpty || targets.isEmpty else {
            return JobResult(job: job, outcome: .skipped("the output exists"))
        }
        let first = renderings.first
        return JobResult(
            job: job, outcome: .done(written), source: job.input == "-" ? .inline : first?.source,
            nativeSize: first?.image.nativeSize, bytesIn: count, trace: first?.trace ?? Trace())
    }

    /// Those targets for which there is work, as far as their paths are known.
    private func unwritten(_ targets: [OutputTarget], of job: Job) throws -> ([OutputTarget], reason: String) {
        let source = FileFacts(job.input)
        var reason = ""
        let wanted = try targets.filter { target in
            guard target.isKnown, let path = target.plannedPath, let facts = FileFacts(path) else { return true }
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

    /// The source, and how many bytes a file has. Standard input is read here; so is a file, where its bytes tell
    /// whether there is work at all.
    private func source(of job: Job) async throws -> (ImageSource, Int?) {
        if job.input == "-" {
            let limit = byteLimit
            let bytes = try await BlockingThreads.files.run { try StandardStream.readInput(limit: limit, $0) }
            return (.bytes(bytes), bytes.count)
        }
        let source = try ImageSource(parsing: job.input)
        guard case .file(let path) = source else { return (source, nil) }
        guard journal != nil else { return (source, FileFacts(path)?.size) }
        let limit = byteLimit
        let file = try await ImagePipeline { ReadFile(byteLimit: limit) }.load(ImageRequest(source))
        let bytes = file.encoded?.bytes ?? []
        return (.bytes(bytes), bytes.count)
    }

    private func write(_ renderings: [Rendering], _ key: Digest?, _ job: Job) throws -> [JobResult.Written] {
        let renderings = renderings.filter { $0.target != nil }
        let paths = renderings.map { $0.target?.path(size: $0.image.size) }
        if let key { journal?.willWrite(key, zip(paths, renderings).map { ($0, $1.image.bytes) }) }
        var written: [JobResult.Written] = []
        for (path, rendering) in zip(paths, renderings) {
            let bytes = rendering.image.bytes
            if let path {
                guard try put(bytes, at: path, job) else { continue }
            } else {
                StandardStream.write(bytes, to: STDOUT_FILENO)
            }
            written.append(JobResult.Written(path: path, bytes: bytes.count, size: rendering.image.size))
        }
        return written
    }

    /// Writes a file; false if one that is there was left.
    func put(_ bytes: [UInt8], at path: String, _ job: Job) throws -> Bool {
        if makesFolders, let slash = path.lastIndex(of: "/"), slash != path.startIndex {
            // What went wrong shows when the file is written.
            _ = FileFacts.makeFolder(String(path[..<slash]))
        }
        var existing = OutputFile.Existing.kept
        switch rule {
        case .overwrite: existing = .replaced
        case .ifNewer:
            let source = FileFacts(job.input)?.modified ?? .min
            if let facts = FileFacts(path), source <= facts.modified { return false }
            existing = .replaced
        case .refuse, .skip: if journal?.isOwn(path, bytes) == true { existing = .replaced }
        }
        let result = Result { () throws(LoadError) in try OutputFile(path).write(bytes, existing: existing) }
        if case .failure(let error) = result, error.code == .outputExists, rule == .skip { return false }
        try result.get()
        return true
    }
}
