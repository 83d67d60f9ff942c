import ArgumentParser
import Pipeline
import Stages

/// Plans the jobs of a batch in the order of its list, while the list is read.
///
/// Unchecked: its variables are used by one call of ``next()`` at a time, on the only thread of `threads`.
final class BatchJobs: @unchecked Sendable {
    private let list: SourceList
    private let planner: OutputPlanner
    private let verb: any WorkVerb
    private let shard: ShardArgument?
    private let threads = BlockingThreads(name: "batch-jobs", count: 1)
    private var row = 0
    private var paths = OutputPaths()
    private var formats: Set<ImageFormat> = []
    private var hasWarned = false
    private let hasURLs = Lock(false)

    init(_ list: SourceList, _ planner: OutputPlanner, _ verb: any WorkVerb, _ shard: ShardArgument?) {
        self.list = list
        self.planner = planner
        self.verb = verb
        self.shard = shard
    }

    /// Whether any source so far came from the network.
    var haveURLs: Bool { hasURLs.withLock { $0 } }

    /// Waits for rows of the list, and returns their jobs; none at the end.
    /// - Throws: `LoadError` if the list can't be read, `ValidationError` for an option that a format doesn't take,
    ///   `CancellationError`.
    func next() async throws -> [Job] {
        try await threads.run { [self] cancellation in
            if row == 0, verb.results.onCollision == .keepExtension { try noteShared(cancellation) }
            while true {
                let sources = try list.next(after: row, cancellation)
                let jobs = try sources.compactMap { try job($0) }
                // Whether an option has no effect is known once all formats are.
                let isLast = sources.isEmpty || list.isComplete && row == list.count
                try verb.encoding.check(formats, isLast && !hasWarned ? verb.report : nil)
                hasWarned = isLast
                if !jobs.isEmpty || sources.isEmpty { return jobs }
            }
        }
    }

    /// The job of the next row; `nil` if it belongs to another shard.
    private func job(_ source: BatchSource) throws -> Job? {
        defer { row += 1 }
        let job: Job
        var source = source
        // A file that isn't there takes no path from another, and no memory.
        if Job(reading: source.input).isMissing, source.error == nil {
            source.error = LoadError(.fileNotFound, subject: printable(source.input), "There is no such file.")
        }
        do throws(OutputCollision) {
            job = try planner.job(source, row: row, verb.results.onCollision, &paths, other: { list[$0] })
        } catch {
            job = Job(input: source.input, targets: .failure(error.error))
        }
        guard shard?.contains(source.input) ?? true else { return nil }
        for target in (try? job.targets.get()) ?? [] { formats.insert(target.format) }
        if source.input.hasScheme { hasURLs.withLock { $0 = true } }
        return job
    }

    /// Finds the paths that several sources would have, for which the whole list is needed.
    private func noteShared(_ cancellation: WorkCancellation) throws {
        try list.wait(cancellation)
        for row in 0..<list.count {
            if row % 1024 == 0 { try cancellation.check() }
            let source = list[row]
            if Job(reading: source.input).isMissing { continue }
            planner.path(of: source, row: row).map { paths.note($0) }
        }
        paths.forgetRows()
    }
}
