import Pipeline
import Stages

/// Reports the outcome of jobs: as lines, as JSON objects, or as a progress bar.
final class WorkReporter: Sendable {
    let options: ReportOptions
    private let bar: ProgressDisplay?
    private let folds: Bool
    private let counts = Lock(WorkCounts())
    /// How often each message came.
    private let messages = Lock<[String: Int]>([:])
    /// How many equal messages are printed before the others are only counted.
    private static let mostEqual = 20

    /// - Parameters:
    ///   - bar: Shows the progress of a batch. Successful results are then not listed.
    ///   - folds: Whether equal messages are counted after the first ones. ``showFolded()`` has to follow.
    init(_ options: ReportOptions, bar: ProgressDisplay? = nil, folds: Bool = true) {
        self.options = options
        self.bar = bar
        self.folds = folds && !options.verbose
    }

    /// The counts so far.
    var soFar: WorkCounts { counts.withLock { $0 } }

    /// Reports one job.
    func report(_ result: JobResult) {
        let counts = counts.withLock { counts in
            counts.add(result)
            return counts
        }
        if speaks(of: result) { bar?.hide() }
        if options.verbose { StandardError.write("\(result.trace)\n") }
        if !options.json, let error = result.error {
            if isPrinted(error.message) { options.show(error) }
        } else if options.json || !options.quiet && (bar == nil || options.verbose) {
            for report in result.reports { report.write(asJSON: options.json) }
        }
        bar?.show(counts)
    }

    /// Prints a warning of a job: something is lost, but the work continues.
    func warn(_ text: String, of job: Job) {
        guard !options.quiet, isPrinted(text) else { return }
        bar?.hide()
        options.warn("\(job.shown): \(text)")
    }

    /// Says how many messages weren't printed, after all jobs.
    func showFolded() {
        let folded = messages.withLock { $0.filter { $0.value > Self.mostEqual }.sorted { $0.key < $1.key } }
        for (message, count) in folded { options.show("… and \(count - Self.mostEqual) more: \(message)") }
    }

    private func isPrinted(_ message: String) -> Bool {
        guard folds else { return true }
        let count = messages.withLock { messages in
            // Messages with numbers in them may all differ; they are printed and not kept.
            guard messages.count < 1000 || messages[message] != nil else { return 0 }
            messages[message, default: 0] += 1
            return messages[message, default: 0]
        }
        return count <= Self.mostEqual
    }

    private func speaks(of result: JobResult) -> Bool {
        result.error != nil || options.verbose || (options.json && StandardOutput.isTerminal)
    }
}
