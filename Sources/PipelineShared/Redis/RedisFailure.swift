import Pipeline

/// Why a request to Redis brought no reply. It never reaches a caller of the library: the stages continue without the
/// shared tier.
enum RedisFailure: Error, Hashable {
    /// No connection, or it broke; the reason without credentials.
    case unreachable(String)
    /// The deadline passed. The server may have run the request.
    case timedOut
    /// The breaker is open, so the request wasn't sent.
    case paused
    /// The server's error.
    case refused(String)

    /// Whether the server has no memory left for writes, and its policy evicts nothing.
    var isFull: Bool { if case .refused(let text) = self { text.hasPrefix("OOM") } else { false } }

    /// Whether the server takes no writes since it is a replica, or isn't ready yet. Its name may lead to another by now.
    var isNotPrimary: Bool {
        guard case .refused(let text) = self else { return false }
        return ["READONLY", "MASTERDOWN", "LOADING"].contains { text.hasPrefix($0) }
    }

    /// Whether the server doesn't know a script, such as after a restart.
    var isUnknownScript: Bool { if case .refused(let text) = self { text.hasPrefix("NOSCRIPT") } else { false } }
}

extension RedisFailure {
    /// The description with a full stop, which the texts of some servers have.
    var sentence: String { description.sentence }
}

extension String {
    /// The text with a full stop at its end.
    var sentence: String { hasSuffix(".") ? self : self + "." }
}

extension RedisFailure: CustomStringConvertible {
    var description: String {
        switch self {
        case .unreachable(let reason): reason
        case .timedOut: "it didn't reply in time"
        case .paused: "it failed before and is not asked for a while"
        case .refused(let text): printable(text)
        }
    }
}
