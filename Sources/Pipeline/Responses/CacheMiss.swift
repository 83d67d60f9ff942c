/// Why a cache of responses has none to serve.
public enum CacheMiss: Sendable, Hashable {
    /// Nothing is stored under the key.
    case nothingStored
    /// This number of responses is stored, all for other values of the fields that `Vary` names (RFC 9111 section 4.1).
    case otherValues(Int)
    /// The stored response has this status, and isn't an image.
    case status(Int)
    /// The stored bytes aren't those that were written.
    case damaged
    /// The cache can't be used.
    case unavailable
    /// The source has no key.
    case noKey
    /// A stored redirect leads to a URL that the client may not ask.
    case notAllowed
    /// The request forbids it (`no-store`, RFC 9111 section 5.2.1.5).
    case requestNoStore
}

extension CacheMiss: CustomStringConvertible {
    /// Such as `nothing stored`.
    public var description: String {
        switch self {
        case .nothingStored: "nothing stored"
        case .otherValues(let count): "\(count) stored for other values of Vary's fields"
        case .status(let status): "the stored response has status \(status)"
        case .damaged: "the stored response is damaged"
        case .unavailable: "the cache can't be used"
        case .noKey: "the source has no key"
        case .notAllowed: "a redirect leads to a URL that the client may not ask"
        case .requestNoStore: "the request says no-store"
        }
    }
}
