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
///   - trace: The load's trace.
///   - expected: A line for each stage: its name and its verdict, indented by four spaces for each composite around it.
/// - Throws: ``TraceMismatch`` if the trace differs.
public func expectTrace(_ trace: Trace, _ expected: String) throws(TraceMismatch) {
    let happened = trace.entries.map { String(repeating: "    ", count: $0.depth) + $0.verdict }
    let lines = expected.split(separator: "\n").map(String.init)
    guard happened != lines else { return }
    throw TraceMismatch(expected: lines.joined(separator: "\n"), happened: happened.joined(separator: "\n"))
}

/// Expects that a load went through certain stages with certain verdicts, in this order, whatever came before, between and
/// after them.
///
/// ```swift
/// try expectTrace(
///     response.trace,
///     contains: """
///         Lookup miss
///         Fetch done
///         """)
/// ```
/// - Parameters:
///   - trace: The load's trace.
///   - expected: A line for each stage: its name and its verdict, without regard to the composites around it.
/// - Throws: ``TraceMismatch`` if one of them didn't happen after those before it.
public func expectTrace(_ trace: Trace, contains expected: String) throws(TraceMismatch) {
    let expected = expected.split(separator: "\n").map(String.init)
    var missing = expected[...]
    for entry in trace.entries where entry.verdict == missing.first { missing.removeFirst() }
    guard !missing.isEmpty else { return }
    throw TraceMismatch(
        expected: expected.joined(separator: "\n"), happened: trace.entries.map(\.verdict).joined(separator: "\n"))
}

/// Does the same with a text for each stage.
@available(*, deprecated, message: "Pass one text with a line for each stage.")
public func expectTrace(_ trace: Trace, contains expected: [String]) throws(TraceMismatch) {
    try expectTrace(trace, contains: expected.joined(separator: "\n"))
}

extension Trace.Entry {
    /// Such as `Lookup miss`.
    fileprivate var verdict: String { "\(stage) \(outcome)" }
}

/// A trace that differs from the expected one; see ``expectTrace(_:_:)``.
public struct TraceMismatch: Error, Sendable, CustomStringConvertible {
    /// What should have happened, a stage a line.
    package let expected: String
    /// What happened, a stage a line.
    package let happened: String

    public var description: String { "Expected:\n\(expected)\nHappened:\n\(happened)" }
}
