import Pipeline

/// Identifies a list by what it does: copies of a list are the same, and so are lists of equal stages over the same
/// resources.
///
/// The list is taken apart on first use, so that only lists that loads get to pay for it.
final class ListIdentity: Sendable {
    private let chain: Chain
    private let parts = Lock<ListParts?>(nil)

    init(_ chain: Chain) { self.chain = chain }

    /// What the list is compared by. It names objects by their addresses, so it is valid only as long as this identity
    /// lives.
    var structure: ListStructure {
        if let structure = parts.withLock({ $0?.structure }) { return structure }
        // Outside the lock: taking a list apart may run a stage's code.
        let taken = ListParts(of: chain)
        return parts.withLock { parts in
            // Another load was first. Parts that are equal to nothing else differ each time a list is taken apart.
            if let parts { return parts.structure }
            parts = taken
            return taken.structure
        }
    }
}
