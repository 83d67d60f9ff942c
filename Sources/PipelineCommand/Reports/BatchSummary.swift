/// The summary of a batch in a line.
struct BatchSummary: Encodable, CustomStringConvertible {
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

    private enum Field: String, CodingKey { case kind, summary }
    private enum Part: String, CodingKey { case total, done, skipped, failed, left, bytesIn, bytesOut, seconds }

    /// Encodes the summary in an object named `summary`, so that it can't be taken for a result.
    func encode(to encoder: any Encoder) throws {
        var outer = encoder.container(keyedBy: Field.self)
        try outer.encode("summary", forKey: .kind)
        var fields = outer.nestedContainer(keyedBy: Part.self, forKey: .summary)
        try fields.encode(total, forKey: .total)
        try fields.encode(done, forKey: .done)
        try fields.encode(skipped, forKey: .skipped)
        try fields.encode(failed, forKey: .failed)
        try fields.encode(left, forKey: .left)
        try fields.encode(bytesIn, forKey: .bytesIn)
        try fields.encode(bytesOut, forKey: .bytesOut)
        try fields.encode(seconds, forKey: .seconds)
    }

    var description: String {
        var parts = ["\(done) done"]
        if skipped > 0 { parts.append("\(skipped) skipped") }
        if failed > 0 { parts.append("\(failed) failed") }
        if left > 0 { parts.append("\(left) remaining (continue with --resume)") }
        if bytesIn > 0 { parts.append("\(ByteCount.text(bytesIn)) became \(ByteCount.text(bytesOut))") }
        let rate = seconds > 0 ? ", \(OneDecimal.text(Double(done) / seconds))/s" : ""
        return parts.joined(separator: ", ") + " in \(OneDecimal.text(seconds)) s\(rate)"
    }
}
