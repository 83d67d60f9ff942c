import Pipeline
import Stages

/// Reports the outcome of jobs: as lines, as JSON objects, or as a progress bar.
final class WorkReporter: Sendable {
    private let options: ReportOptions
    private let bar: ProgressDisplay?
    private let counts = Lock(WorkCounts())

    /// - Parameter bar: Shows the progress of a batch. Successful results are then not listed.
    init(_ options: ReportOptions, bar: ProgressDisplay? = nil) {
        self.options = options
        self.bar = bar
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
        if options.json {
            for report in WorkReport.all(result) { StandardOutput.write(JSONLine.of(report)) }
        } else {
            show(result)
        }
        bar?.show(counts)
    }

    /// Prints a warning: something is wrong, but the work continues.
    func warn(_ text: String) {
        guard !options.quiet else { return }
        bar?.hide()
        options.warn(text)
    }

    private func speaks(of result: JobResult) -> Bool {
        if case .failed = result.outcome { return true }
        return options.verbose || (options.json && StandardOutput.isTerminal)
    }

    private func show(_ result: JobResult) {
        let input = result.job.shown
        switch result.outcome {
        case .failed(let error): options.show(error)
        case .skipped(let reason):
            if !options.quiet, bar == nil || options.verbose { StandardOutput.write("\(input): \(reason)") }
        case .done(let written):
            guard !options.quiet, bar == nil || options.verbose else { return }
            if written.isEmpty { StandardOutput.write("\(input): \(result.response?.source.rawValue ?? "done")") }
            for file in written {
                guard let path = file.path else { continue }
                let size = file.size.map { "\($0)" } ?? ""
                let native = result.response?.nativeSize.map { $0 == file.size ? "" : " of \($0)" } ?? ""
                StandardOutput.write("\(input) → \(printable(path)): \(size)\(native), \(ByteCount.text(file.bytes))")
            }
        }
    }
}
