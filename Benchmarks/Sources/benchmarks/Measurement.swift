import CAllocations
import Pipeline

/// The costs of one call.
struct Measurement {
    /// The median of the rounds' means, in nanoseconds.
    let nanoseconds: Double
    /// The blocks that a call requests from malloc, on any thread.
    let allocations: Double

    /// Runs `body` in rounds of `calls` calls, after 20 rounds to warm up. Rounds are short, so that other programs on
    /// the machine interrupt only few of them.
    static func of(
        rounds: Int = 301, calls: Int = 1000, _ body: () async throws -> Void
    ) async rethrows -> Measurement {
        let clock = SystemClock()
        for _ in 0..<20 * calls { try await body() }
        var times: [Double] = []
        times.reserveCapacity(rounds)
        let before = allocations_in_all()
        for _ in 0..<rounds {
            let start = clock.uptime
            for _ in 0..<calls { try await body() }
            times.append((clock.uptime - start) / .nanoseconds(calls))
        }
        let allocations = Double(allocations_in_all() - before) / Double(rounds * calls)
        return Measurement(nanoseconds: times.sorted()[rounds / 2], allocations: allocations)
    }

    /// Prints the measurement as a row of a table.
    func print(_ name: String) {
        let time = String(Int(nanoseconds.rounded()))
        let count = String((allocations * 100).rounded() / 100)
        let padding = String(repeating: " ", count: max(1, 52 - name.count))
        Swift.print(
            name + padding + String(repeating: " ", count: max(0, 7 - time.count)) + time + " ns"
                + String(repeating: " ", count: max(1, 8 - count.count)) + count + " allocations")
    }
}
