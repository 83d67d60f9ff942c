public import Pipeline
public import PipelineHTTP

extension ImagePipeline {
    /// Returns the same list with a farther tier, such as one that machines share: it is asked before the origin, which one
    /// of those that share its leases asks for all, and what is stored goes there too, results included. Error limits count only requests to
    /// the origin.
    ///
    /// ```swift
    /// let shared = HTTPCache(store: store, leases: leases, source: .shared, isShared: true)
    /// let list = ImagePipeline.returnCacheElseLoad(resources).sharing(shared)
    /// ```
    /// - Precondition: The list has a `Fetch` and a `Store`, as an edit's place.
    public func sharing(_ tier: HTTPCache) -> ImagePipeline {
        let list = wrapping(Store.self) { $0.adding(tier) }.wrapping(Results.self, where: .present) { $0.adding(tier) }
        // A limit that refuses the origin doesn't refuse what another machine has, and the tier is asked once for a chain that
        // is one entry.
        if contains(LimitErrors.self) { return list.wrapping(LimitErrors.self) { Self.shared(in: tier, $0) } }
        if contains(FollowIdentified.self) {
            return list.wrapping(FollowIdentified.self) { Self.shared(in: tier, $0) }
        }
        return list.wrapping(Fetch.self) { Self.shared(in: tier, $0) }
    }

    @ChainBuilder private static func shared(in tier: HTTPCache, _ origin: any Stage) -> Chain {
        Lookup(tier)
        Lease(tier) { origin }
    }
}
