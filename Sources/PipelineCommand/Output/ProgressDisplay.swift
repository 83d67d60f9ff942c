import Glibc
import Pipeline

/// A progress bar on standard error, drawn at most ten times a second.
final class ProgressDisplay: Sendable {
    private struct State {
        var drawn: ContinuousClock.Instant?
        var isShown = false
    }

    private let bar: ProgressBar
    private let start = ContinuousClock.now
    private let state = Lock(State())

    /// `nil` if standard error isn't a terminal that can redraw a line.
    init?(total: Int) {
        guard StandardError.isRedrawable else { return nil }
        let locale = Environment["LC_ALL"] ?? Environment["LC_CTYPE"] ?? Environment["LANG"] ?? ""
        let isUnicode = locale.lowercased().contains("utf-8") || locale.lowercased().contains("utf8")
        bar = ProgressBar(total: total, isUnicode: isUnicode)
    }

    /// Draws the bar, unless it was drawn less than 0.1 seconds ago.
    func show(_ counts: WorkCounts) {
        let now = ContinuousClock.now
        let isDue = state.withLock { state in
            let isLast = counts.finished >= bar.total
            if let drawn = state.drawn, state.isShown, !isLast, now - drawn < .milliseconds(100) { return false }
            state.drawn = now
            state.isShown = true
            return true
        }
        guard isDue else { return }
        StandardError.write("\r\u{1B}[K" + bar.line(counts, elapsed: now - start, columns: Self.columns))
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
