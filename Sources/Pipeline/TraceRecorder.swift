/// Writes a load's trace while its stages run.
struct TraceRecorder: Sendable {
    private(set) var trace = Trace()
    private let start: Int64
    /// When a stage last began or ended, in nanoseconds.
    private(set) var last: Int64
    private(set) var depth = 0
    private var current = 0

    init(start: Int64) {
        self.start = start
        last = start
    }

    // Never inlined into where a load waits: what they need for themselves would be held there all the while.

    /// A stage begins; what is noted from now on is its.
    @inline(never)
    mutating func begin(_ stage: String, _ type: ObjectIdentifier, clock: any LoadClock) -> Int {
        // At the top nothing happens between two stages; a composite may have waited before it runs its body.
        if depth > 0 { last = clock.uptimeNanoseconds }
        // A memory hit makes two entries; one allocation for them is all that it can afford.
        if trace.entries.isEmpty { trace.entries.reserveCapacity(2) }
        current = trace.entries.count
        trace.entries.append(
            Trace.Entry(
                stage: stage, depth: depth, outcome: .failed, startNanoseconds: last - start, nanoseconds: 0,
                type: type))
        depth += 1
        return current
    }

    /// The stage that began as entry `index` ends.
    @inline(never)
    mutating func end(_ index: Int, _ outcome: Outcome, bytes: Int?, clock: any LoadClock) {
        depth -= 1
        last = clock.uptimeNanoseconds
        trace.entries[index].outcome = outcome
        trace.entries[index].nanoseconds = last - start - trace.entries[index].startNanoseconds
        trace.entries[index].bytes = bytes
        // A stage that ends inside a composite hands the pen back to it.
        current = depth == 0 ? index : trace.entries[..<index].lastIndex { $0.depth == depth - 1 } ?? index
    }

    /// The fact that the running stage has noted so far.
    var fact: Trace.Fact? { current < trace.entries.count ? trace.entries[current].fact : nil }

    mutating func note(_ fact: Trace.Fact) {
        if current < trace.entries.count { trace.entries[current].noted = Trace.Noted(fact) }
    }

    mutating func note(_ key: Trace.Key) {
        if current < trace.entries.count { trace.entries[current].key = key }
    }

    /// Takes a fork's entries as those of the running stage's body.
    mutating func adopt(_ other: TraceRecorder) {
        for entry in other.trace.entries {
            trace.entries.append(
                Trace.Entry(
                    stage: entry.stage, depth: entry.depth + depth, outcome: entry.outcome,
                    startNanoseconds: entry.startNanoseconds + other.start - start, nanoseconds: entry.nanoseconds,
                    bytes: entry.bytes, key: entry.key, noted: entry.noted, type: entry.type))
        }
    }
}
