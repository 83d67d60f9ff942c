import LibC
import Pipeline
import Stages

/// Runs jobs in order, several at a time. All verbs that write images use it.
struct WorkRun: Sendable {
    /// Makes the results of a job for the given targets.
    var render: @Sendable (ImageSource, Job, [OutputTarget]) async throws -> [Rendering]
    /// The warning that a result would give; `nil` for a run whose results lose nothing.
    var plannedWarning: (@Sendable (ImageSource, OutputTarget) async throws -> String?)?
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
}
