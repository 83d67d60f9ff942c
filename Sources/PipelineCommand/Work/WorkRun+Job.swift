import Pipeline
import Stages

extension WorkRun {
    /// Makes the results of one job, unless they are there.
    func work(on job: Job) async throws -> JobResult {
        let targets = try job.targets.get()
        if job.isRepeated { return JobResult(job: job, outcome: .skipped("it is listed more than once")) }
        let (wanted, reason) = try await BlockingThreads.files.run { try unwritten(targets, of: job, $0) }
        guard !wanted.isEmpty || targets.isEmpty else { return JobResult(job: job, outcome: .skipped(reason)) }
        let file = journal == nil ? nil : JournalSeen.facts(of: job)
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
            job: job, outcome: .done(written), response: renderings.first?.response,
            provenance: renderings.first?.provenance, bytesIn: count)
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
        let bytes = try await source.response(limit: limits.encodedBytes).encoded?.bytes ?? []
        return (.bytes(bytes), bytes.count)
    }
}
