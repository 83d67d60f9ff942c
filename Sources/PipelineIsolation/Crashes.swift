import Pipeline

/// Decides when the helper has to be started again because workers died.
///
/// Workers are forked from one helper, so they share its layout of memory and its stack canaries. An attacker who may crash
/// any number of them could find both out by trial.
struct Crashes {
    /// The number of deaths within ``period`` that one layout lasts for.
    static let most = 3
    /// The time after which a death no longer counts, and after which pauses are short again.
    static let period = Duration.seconds(60)
    /// The pause before the first restart. Each further one doubles, up to ``longestPause``.
    static let shortestPause = Duration.milliseconds(100)
    static let longestPause = Duration.seconds(4)

    /// Whether the next worker has to come from a new helper.
    var needHelper = false

    private var deaths: [Int64] = []
    private var pause: Int64 = 0
    private var end = Int64.min

    /// Whether no worker may be started yet.
    /// - Parameter now: The uptime in nanoseconds.
    func pauses(now: Int64) -> Bool { needHelper && now < end }

    /// Counts the death of a worker.
    mutating func note(now: Int64) {
        let period = Int64(Self.period / .nanoseconds(1))
        deaths = deaths.filter { $0 > now - period } + [now]
        guard deaths.count >= Self.most else { return }
        let isFirst = pause == 0 || now - end > period
        pause = isFirst ? Int64(Self.shortestPause / .nanoseconds(1)) : pause * 2
        pause = min(pause, Int64(Self.longestPause / .nanoseconds(1)))
        (deaths, needHelper, end) = ([], true, now + pause)
    }
}
