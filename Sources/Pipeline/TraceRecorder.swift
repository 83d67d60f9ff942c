/// Writes a load's trace while its stages run.
struct TraceRecorder: Sendable {
    private(set) var trace = Trace()
    private let start: Duration
    private var depth = 0
    private var current = 0

    init(start: Duration) { self.start = start }

    /// A stage begins; what is noted from now on is its.
    mutating func begin(_ stage: String, at uptime: Duration) -> Int {
        // A memory hit makes two entries; one allocation for them is all that it can afford.
        if trace.entries.isEmpty { trace.entries.reserveCapacity(4) }
        trace.entries.append(
            Trace.Entry(stage: stage, depth: depth, outcome: .failed, start: uptime - start, duration: .zero))
        current = trace.entries.count - 1
        depth += 1
        return current
    }

    /// The stage that began as entry `index` ends.
    mutating func end(_ index: Int, _ outcome: Outcome, bytes: Int?, at uptime: Duration) {
        depth -= 1
        trace.entries[index].outcome = outcome
        trace.entries[index].duration = uptime - start - trace.entries[index].start
        trace.entries[index].bytes = bytes
        // A stage that ends inside a composite hands the pen back to it.
        current = trace.entries[..<index].lastIndex { $0.depth == depth - 1 } ?? index
    }

    mutating func note(_ text: String) {
        guard trace.entries.indices.contains(current) else { return }
        trace.entries[current].note = text
    }

    mutating func note(_ key: Trace.Key) {
        guard trace.entries.indices.contains(current) else { return }
        trace.entries[current].key = key
    }

    /// Takes a fork's entries as those of the running stage's body.
    mutating func adopt(_ other: TraceRecorder) {
        for entry in other.trace.entries {
            trace.entries.append(
                Trace.Entry(
                    stage: entry.stage, depth: entry.depth + depth, outcome: entry.outcome,
                    start: entry.start + other.start - start, duration: entry.duration, bytes: entry.bytes,
                    key: entry.key, note: entry.note))
        }
    }
}
