/// Writes a load's trace while its stages run.
struct TraceRecorder: Sendable {
    private(set) var trace = Trace()
    let start: Int64
    /// When a stage last started or ended, in nanoseconds.
    private(set) var last: Int64
    private(set) var depth = 0
    private var current = 0

    init(start: Int64) {
        self.start = start
        last = start
    }

    // Never inlined into a function that suspends: their locals would take up its frame for as long as the load waits.

    /// Adds an entry for a stage that starts, and returns its index. Notes go to this entry from now on.
    @inline(never)
    mutating func begin(_ stage: String, _ type: ObjectIdentifier, clock: any LoadClock) -> Int {
        // At the top nothing happens between two stages; a composite may have waited before it runs its body.
        if depth > 0 { last = clock.uptimeNanoseconds }
        // A memory hit makes two entries, and can afford only one allocation for them.
        if trace.entries.isEmpty { trace.entries.reserveCapacity(2) }
        current = trace.entries.count
        trace.entries.append(
            Trace.Entry(
                stage: stage, depth: depth, outcome: .failed, startNanoseconds: last - start, nanoseconds: 0,
                type: type))
        depth += 1
        return current
    }

    /// Completes the entry of a stage that ends.
    @inline(never)
    mutating func end(
        _ index: Int, _ outcome: Outcome, bytes: Int?, source: LoadSource? = nil, clock: any LoadClock
    ) {
        depth -= 1
        last = clock.uptimeNanoseconds
        trace.entries[index].outcome = outcome
        trace.entries[index].nanoseconds = last - start - trace.entries[index].startNanoseconds
        trace.entries[index].bytes = bytes
        trace.entries[index].source = source
        // After a stage inside a composite ends, notes go to the composite again.
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

    /// Adds a fork's entries as those of the running stage's body.
    mutating func adopt(_ other: TraceRecorder) {
        for entry in other.trace.entries {
            trace.entries.append(
                Trace.Entry(
                    stage: entry.stage, depth: entry.depth + depth, outcome: entry.outcome, source: entry.source,
                    startNanoseconds: entry.startNanoseconds + other.start - start, nanoseconds: entry.nanoseconds,
                    bytes: entry.bytes, key: entry.key, noted: entry.noted, type: entry.type))
        }
    }
}
