import Glibc
import Pipeline

/// A progress bar on standard error, drawn at most ten times a second.
final class ProgressDisplay: Sendable {
    private struct State {
        var drawn: ContinuousClock.Instant?
        var isShown = false
        var counts = WorkCounts()
    }

    /// How many jobs there are, and whether more may come.
    private let total: @Sendable () -> (count: Int, isComplete: Bool)
    private let isUnicode: Bool
    private let start = ContinuousClock.now
    private let state = Lock(State())

    /// `nil` if standard error isn't a terminal that can redraw a line.
    convenience init?(total: Int) { self.init { (total, true) } }

    /// `nil` if standard error isn't a terminal that can redraw a line.
    convenience init?(_ list: SourceList) { self.init { (list.total, list.isComplete) } }

    private init?(_ total: @escaping @Sendable () -> (count: Int, isComplete: Bool)) {
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
        StandardError.write("\r\u{1B}[K" + bar.line(due, elapsed: now - start, columns: Self.columns))
    }

    /// Removes the bar, to make room for other lines.
    func hide() {
        let wasShown = state.withLock { state in
            defer { state.isShown = false }
            return state.isShown
        }
        if wasShown { StandardError.write("\r\u{1B}[K") }
    }

    private static var columns: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}
