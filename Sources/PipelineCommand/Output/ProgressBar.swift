/// A line with the progress of a batch, as wide as the terminal allows.
struct ProgressBar: Sendable {
    let total: Int
    /// Whether the whole list was read, so that the total is known.
    var isComplete = true
    /// Whether the terminal shows more than ASCII.
    var isUnicode = true

    /// The line.
    /// - Parameters:
    ///   - elapsed: The time since the batch began.
    ///   - columns: The terminal's width. Fields that don't fit are left out, the least important first.
    func line(_ counts: WorkCounts, elapsed: Duration, columns: Int) -> String {
        let finished = min(counts.finished, total)
        let share = total > 0 ? Double(finished) / Double(total) : 1
        let seconds = elapsed / .seconds(1)
        let rate = seconds > 0 ? Double(finished) / seconds : 0
        var fields = ["\(finished)/\(total)", "\(Int(share * 100)) %"]
        if !isComplete {
            fields = ["Reading the list: \(Self.grouped(total))"]
            if finished > 0 { fields.append("\(Self.grouped(finished)) finished") }
        }
        if isComplete || finished > 0 {
            fields.append(rate >= 10 ? "\(Int(rate.rounded()))/s" : "\(OneDecimal.text(rate))/s")
        }
        if rate > 0, isComplete, finished < total {
            fields.append("\(Self.clock(Double(total - finished) / rate)) left")
        }
        if counts.failed > 0 { fields.insert("\(counts.failed) failed", at: 2) }
        let saved = counts.bytesIn - counts.bytesOut
        if counts.bytesIn > 0 { fields.append("\(ByteCount.text(abs(saved))) \(saved < 0 ? "more" : "saved")") }
        // One column stays free, since a full line may begin a new one.
        let room = max(1, columns - 1)
        while fields.count > 1, fields.joined(separator: "  ").count > room { fields.removeLast() }
        let text = fields.joined(separator: "  ")
        let length = min(40, room - text.count - 2)
        return length < 5 || !isComplete ? String(text.prefix(room)) : "\(bar(share, length))  \(text)"
    }

    private func bar(_ share: Double, _ length: Int) -> String {
        let filled = Int((share * Double(length)).rounded(.down))
        return String(repeating: isUnicode ? "█" : "#", count: filled)
            + String(repeating: isUnicode ? "░" : "-", count: length - filled)
    }

    /// Such as `40,000`.
    private static func grouped(_ number: Int) -> String {
        number < 1000 ? "\(number)" : grouped(number / 1000) + "," + "\(1000 + number % 1000)".dropFirst()
    }

    /// Such as `0:07` or `1:02:03`.
    private static func clock(_ seconds: Double) -> String {
        let seconds = Int(min(359_999, seconds.rounded(.up)))
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
        return (hours > 0 ? "\(hours):\(two(minutes))" : "\(minutes)") + ":\(two(seconds % 60))"
    }
}
