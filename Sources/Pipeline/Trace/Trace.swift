/// What happened to a load, stage by stage: the answer to "why was this a miss?".
public struct Trace: Sendable {
    /// One run of one stage.
    public struct Entry: Sendable {
        /// The stage's name.
        public let stage: String
        /// How deep in composites' bodies the stage stands; 0 at the top.
        public let depth: Int
        /// How the stage's run went.
        public internal(set) var outcome: Outcome
        /// Where the stage found the load's content; `nil` unless the stage was the first to have any. Composites have
        /// none: the stage in their body has it.
        public internal(set) var source: LoadSource?
        package let startNanoseconds: Int64
        package internal(set) var nanoseconds: Int64
        /// The bytes that the load carried after the stage, where the stage changed what it carries.
        public internal(set) var bytes: Int?
        /// The key that the stage looked under or stored under.
        public internal(set) var key: Key?
        /// What the stage found out or did, beyond its outcome.
        public var fact: Fact? { noted?.fact }
        var noted: Noted?
        let type: ObjectIdentifier

        /// ``fact`` as a text for people, such as `expired 40 s ago`.
        public var note: String? { fact?.description }

        /// When the stage started, counted from the load's start.
        public var start: Duration { .nanoseconds(startNanoseconds) }

        /// How long the stage took, its body included.
        public var duration: Duration { .nanoseconds(nanoseconds) }
    }

    /// A fact that a stage has noted. A class, so that it costs nothing in the entries of a memory hit, which have
    /// none.
    final class Noted: Sendable {
        let fact: Fact

        init(_ fact: Fact) { self.fact = fact }
    }

    /// A key of either kind.
    public enum Key: Sendable, Hashable, CustomStringConvertible {
        /// The key of a source's bytes.
        case source(SourceKey)
        /// The key of a final product.
        case variant(VariantKey)

        /// The key's hexadecimal form.
        public var description: String {
            switch self {
            case .source(let key): key.description
            case .variant(let key): key.description
            }
        }
    }

    /// The runs in the order in which they started; a stage that was not called has none.
    public internal(set) var entries: [Entry] = []

    /// Makes an empty trace.
    package init() {}

    /// The runs of the stages of a type, whatever their names are.
    public func entries(of type: any Stage.Type) -> [Entry] {
        entries.filter { $0.type == ObjectIdentifier(type) }
    }

    /// The outcomes in one line: `ResolveIdentifier done, MemoryLookup miss`. Composites and stages that had nothing to
    /// do are left out.
    package var summary: String {
        entries.indices.filter { index in
            let isComposite = index + 1 < entries.count && entries[index + 1].depth > entries[index].depth
            return !isComposite && entries[index].outcome != .skipped
        }.map { "\(entries[$0].stage) \(entries[$0].outcome.rawValue)" }.joined(separator: ", ")
    }
}

extension Trace: CustomStringConvertible {
    /// A line for each run: outcome, milliseconds, bytes, key, note.
    public var description: String {
        let width = entries.map { $0.stage.count + 2 * $0.depth }.max() ?? 0
        return entries.map { entry in
            let name = String(repeating: "  ", count: entry.depth) + entry.stage
            var line = name + String(repeating: " ", count: width - name.count) + "  "
            line += entry.outcome.rawValue + String(repeating: " ", count: 7 - entry.outcome.rawValue.count)
            let time = entry.duration.millisecondsText
            line += String(repeating: " ", count: max(0, 10 - time.count)) + time + " ms"
            if let bytes = entry.bytes { line += "  \(bytes) bytes" }
            if let key = entry.key { line += "  key \(key.description.prefix(12))" }
            if let note = entry.note { line += "  (\(note))" }
            return line
        }.joined(separator: "\n")
    }
}
