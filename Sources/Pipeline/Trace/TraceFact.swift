extension Trace {
    /// What a stage found out or did, beyond its outcome. Programs read it; its description is for people.
    public enum Fact: Sendable, Hashable {
        /// A stored response was found, with this freshness.
        case found(Freshness)
        /// An image in memory expired this long ago.
        case expired(for: Duration)
        /// A redirect led to a stored response.
        case redirected(Freshness)
        /// No response that may be served was found.
        case notFound(CacheMiss)
        /// The origin responded with this status (RFC 9110 section 15).
        case answered(status: Int)
        /// The origin sent the rest of a body that broke off, from this byte on (RFC 9110 section 15.3.7).
        case resumed(from: Int)
        /// The load joined another one in flight.
        case joined
        /// The number of times that the body ran.
        case attempts(Int)
        /// A stale image from this source stands in for an error.
        case standIn(for: LoadError.Code, from: LoadSource)
        /// A cache that the caller gave as closures failed; the error's text.
        case cacheFailed(String)
        /// The origin declared another media type (RFC 9110 section 8.3) than that of the body.
        case mislabelled(declared: String, as: ImageFormat)
        /// A text for people, such as one that a stage of your own writes with ``Load/note(_:)-(String)``.
        case text(String)
    }
}

extension Trace.Fact: CustomStringConvertible {
    /// Such as `expired 40 s ago: age 100 s, lifetime 60 s (max-age)`.
    public var description: String {
        switch self {
        case .found(let freshness): "\(freshness)"
        case .expired(let duration): "expired \(duration.secondsAgo)"
        case .redirected(let freshness): "a redirect led to a stored response: \(freshness)"
        case .notFound(let miss): "\(miss)"
        case .answered(let status): "status \(status)"
        case .resumed(let byte): "status 206, from byte \(byte) on"
        case .joined: "joined a load under way"
        case .attempts(let count): "\(count) attempts"
        case .standIn(let code, let source):
            "\(code.rawValue): the stale \(source == .memory ? "image" : "response") stands in"
        case .cacheFailed(let error): "the cache failed: \(error)"
        case .mislabelled(let declared, let format): "declared as \(declared), and is \(format)"
        case .text(let text): text
        }
    }
}
