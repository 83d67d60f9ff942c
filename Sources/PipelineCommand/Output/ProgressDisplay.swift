import LibC
import Pipeline

/// A progress bar on standard error, drawn at most ten times a second.
final class ProgressDisplay: Sendable {
    private struct State {
        var drawn: ContinuousClock.Instant?
        var isShown = false
        var counts = WorkCounts()
    }

    private let total: @Sendable () -> (count: Int, isComplete: Bool)
    private let isUnicode: Bool
    private let start = ContinuousClock.now
    private let state = Lock(State())

    /// Makes a bar that isn't shown yet; `nil` if standard error isn't a terminal that can redraw a line.
    /// - Parameter total: Returns how many jobs there are, and whether these are all.
    init?(_ total: @escaping @Sendable () -> (count: Int, isComplete: Bool)) {
        guard StandardError.isRedrawable else { return nil }
        let locale = Environment["LC_ALL"] ?? Environment["LC_CTYPE"] ?? Environment["LANG"] ?? ""
        isUnicode = locale.lowercased().contains("utf-8") || locale.lowercased().contains("utf8")
        self.total = total
    }

    /// Draws the bar, unless it was drawn less than 0.1 seconds ago.
    /// - Parameter counts: The new counts; `nil` if only the list has grown.
    func show(_ counts: WorkCounts? = nil) {
        let now = ContinuousClock.now
        let (count, isComplete) = total()
        let bar = ProgressBar(total: count, isComplete: isComplete, isUnicode: isUnicode)
        let due: WorkCounts? = state.withLock { state in
            // Jobs report in any order.
            if let counts, counts.finished >= state.counts.finished { state.counts = counts }
            let isLast = bar.isComplete && state.counts.finished >= bar.total
            if let drawn = state.drawn, state.isShown, !isLast, now - drawn < .milliseconds(100) { return nil }
            state.drawn = now
            state.isShown = true
            return state.counts
        }
        guard let due else { return }
        StandardError.redraw(bar.line(due, elapsed: now - start, columns: Self.columns))
    }

    /// Removes the bar, to make room for other lines.
    func hide() {
        let wasShown = state.withLock { state in
            defer { state.isShown = false }
            return state.isShown
        }
        if wasShown { StandardError.redraw() }
    }

    private static var columns: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}

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

/// Shows how many bytes have arrived, on one line of the terminal.
struct ProgressLine: Sendable {
    private let name: String

    /// `nil` if standard error isn't a terminal that can redraw a line.
    init?(_ name: String) {
        guard StandardError.isRedrawable else { return nil }
        self.name = String(name.suffix(40))
    }

    func show(_ event: LoadEvent) {
        guard case .progress(let received, let expected) = event else { return }
        let share = expected.map { $0 > 0 ? " \(Int(min(100, Double(received) * 100 / Double($0)))) %" : "" } ?? ""
        StandardError.redraw("\(name): \(received) bytes\(share)")
    }

    func clear() { StandardError.redraw() }
}
