public import Pipeline

/// Expects that a load went through certain stages with certain verdicts, in this order.
///
/// ```swift
/// try expectTrace(
///     response.trace,
///     """
///     ResolveIdentifier done
///     MemoryLookup miss
///     Coalesce done
///         Fetch done
///     """)
/// ```
/// - Parameters:
///   - trace: what happened.
///   - expected: a line for each stage: its name and its verdict, indented by four spaces for each composite around it.
/// - Throws: ``TraceMismatch`` if something else happened.
public func expectTrace(_ trace: Trace, _ expected: String) throws(TraceMismatch) {
    let happened = trace.entries.map { entry in
        String(repeating: "    ", count: entry.depth) + "\(entry.stage) \(entry.outcome)"
    }
    let lines = expected.split(separator: "\n").map(String.init)
    guard happened != lines else { return }
    throw TraceMismatch(expected: lines.joined(separator: "\n"), happened: happened.joined(separator: "\n"))
}

/// Another trace than was expected; see ``expectTrace(_:_:)``.
public struct TraceMismatch: Error, Sendable, CustomStringConvertible {
    /// What should have happened, a stage a line.
    package let expected: String
    /// What happened, a stage a line.
    package let happened: String

    /// Both.
    public var description: String { "Expected:\n\(expected)\nHappened:\n\(happened)" }
}
