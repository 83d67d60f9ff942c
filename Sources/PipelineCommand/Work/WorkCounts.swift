/// Counts jobs by their outcome, and their bytes.
struct WorkCounts: Sendable, Hashable {
    var done = 0
    var skipped = 0
    var failed = 0
    var bytesIn = 0
    var bytesOut = 0

    /// The number of jobs that have ended.
    var finished: Int { done + skipped + failed }

    mutating func add(_ result: JobResult) {
        switch result.outcome {
        case .skipped: skipped += 1
        case .failed: failed += 1
        case .done(let written):
            done += 1
            bytesIn += result.bytesIn ?? 0
            bytesOut += written.reduce(0) { $0 + $1.bytes }
        }
    }
}
