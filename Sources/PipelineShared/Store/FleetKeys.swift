import Pipeline

/// The names of keys and channels in Redis.
///
/// All begin with the namespace and the versions of the layout and of the source key's digest, so that releases with other
/// versions never meet. Results of an `Encode` have the variant key's version in their field.
struct FleetKeys: Sendable, Hashable {
    /// The version of the layout. A release that stores otherwise increments it.
    static let layout = 2

    /// What the names of a service begin with.
    let namespace: String
    /// What all names begin with.
    let prefix: String

    init(namespace: String) {
        self.namespace = namespace
        prefix = "\(namespace):\(Self.layout).\(SourceKey.version):"
    }

    /// Whether the namespace has a hash tag, such as `{img}`, so that all names are in one slot of a cluster.
    var areInOneSlot: Bool {
        guard let start = namespace.firstIndex(of: "{"), let end = namespace[start...].firstIndex(of: "}") else {
            return false
        }
        return namespace.index(after: start) < end
    }

    /// A key that doesn't exist, for a write that changes nothing.
    var probe: String { prefix + "p" }
    /// The source of the numbers that only rise.
    var counter: String { prefix + "n" }
    /// The generations of all responses, each with its source's key.
    var generations: String { prefix + "g" }
    /// The recent invalidations, by their numbers.
    var log: String { prefix + "log" }
    /// What is known of the recent invalidations: the name of the server's data, which is gone with them, the number
    /// since which none is left out, and how many there are.
    var noted: String { prefix + "noted" }
    /// The tags that loads have added to responses that others had fetched, with the times until which they are noted.
    var tagged: String { prefix + "tags" }
    /// What the name of the list of URLs begins with that have such a tag.
    var taggedURLs: String { prefix + "t:" }
    /// The channel of invalidations.
    var invalidations: String { prefix + "inv" }
    /// What the name of a URL's or tag's epoch begins with.
    var epochs: String { prefix + "e:" }

    /// The responses of a source.
    func entry(_ key: SourceKey) -> String { prefix + "r:\(key)" }
    /// The failed attempts at a source.
    func failures(_ key: SourceKey) -> String { prefix + "f:\(key)" }
    /// The name of the epoch of a URL or a tag, without ``epochs``.
    func epoch(_ target: String) -> String { String("\(BLAKE2bDigest(of: target))".prefix(32)) }
    /// A lease.
    func lease(_ name: String) -> String { prefix + "l:" + name }
    /// The channel of what becomes of a lease.
    func outcomes(_ name: String) -> String { prefix + "d:" + name }
    /// A result that is named after the bytes that it was made of.
    func result(named name: String) -> String { prefix + "c:" + name }
    /// The field of a result.
    func result(_ key: VariantKey) -> String { "\(VariantKey.version)c.\(key.digest)" }
}
