/// How a stage's run went. It is reported in the trace and never steers the load.
public enum Outcome: String, Sendable, Hashable {
    /// A cache had what the stage looked up.
    case hit
    /// A cache had nothing, or nothing fresh.
    case miss
    /// The stage did its work.
    case done
    /// The stage had nothing to do for this load, such as a file reader for a URL.
    case skipped
    /// The stage failed; the error that it threw ends the load unless a composite catches it.
    case failed
}
