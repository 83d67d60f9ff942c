/// The summary of a batch in a line.
struct BatchSummary {
    let total: Int
    let done: Int
    let skipped: Int
    let failed: Int
    let left: Int
    let bytesIn: Int
    let bytesOut: Int
    let seconds: Double

    init(_ counts: WorkCounts, total: Int, time: Duration) {
        self.total = total
        (done, skipped, failed) = (counts.done, counts.skipped, counts.failed)
        left = total - counts.finished
        (bytesIn, bytesOut) = (counts.bytesIn, counts.bytesOut)
        seconds = (time / .milliseconds(1)).rounded() / 1000
    }

    /// Its object has the numbers in an object of their own, so that it can't be taken for a result.
    var report: Report {
        let numbers = Report([
            "total": total, "done": done, "skipped": skipped, "failed": failed, "left": left, "bytesIn": bytesIn,
            "bytesOut": bytesOut, "seconds": seconds,
        ])
        return Report(["kind": "summary", "summary": numbers], text)
    }

    private var text: String {
        var parts = ["\(done) done"]
        if skipped > 0 { parts.append("\(skipped) skipped") }
        if failed > 0 { parts.append("\(failed) failed") }
        if left > 0 { parts.append("\(left) remaining (continue with --resume)") }
        if bytesIn > 0 { parts.append("\(ByteCount.text(bytesIn)) became \(ByteCount.text(bytesOut))") }
        let rate = seconds > 0 ? ", \(OneDecimal.text(Double(done) / seconds))/s" : ""
        return parts.joined(separator: ", ") + " in \(OneDecimal.text(seconds)) s\(rate)"
    }
}
