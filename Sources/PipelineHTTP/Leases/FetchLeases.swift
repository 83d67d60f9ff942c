package import Pipeline

/// Lets one load at a time fetch a source, among all processes or machines that share a tier.
///
/// The file locks of an ``HTTPCache`` in a folder and the leases of a fleet are such leases. For those of your own, keep
/// the three promises of ``turn(_:patience:look:)``.
public protocol FetchLeases: Sendable {
    /// Whether changes to the tier need a hold: whatever is stored without one, or after it has ended, is refused. A load
    /// without a hold then stores nothing in the tier. `false` by default.
    var isFencing: Bool { get }

    /// Waits until a load gets a lease, or needs none.
    ///
    /// - A holder that dies loses its lease, and the next waiter gets it.
    /// - A holder that ends without a stored response lets all waiters go on alone, so that loads never queue for a
    ///   response that can't be shared.
    /// - Where leases can't be used, the load fetches alone at once.
    /// - Parameters:
    ///   - name: What is leased; the same for all loads that can share one response.
    ///   - patience: How long to wait for holders in all.
    ///   - look: Looks in the tier again; returns whether the load has what it wants. It is called before a hold is given
    ///     out, since another load may have stored the response meanwhile.
    /// - Throws: `CancellationError` at once when the task is cancelled, and the errors of `look`.
    nonisolated(nonsending) func turn(
        _ name: String, patience: Duration, look: nonisolated(nonsending) () async throws -> Bool
    ) async throws -> FetchTurn
}

extension FetchLeases {
    /// Changes need no hold.
    public var isFencing: Bool { false }
}

/// What a load does after ``FetchLeases/turn(_:patience:look:)``.
public enum FetchTurn: Sendable {
    /// Fetch for all loads that share the tier.
    case hold(any LeaseHold)
    /// Nothing: another load has fetched it, and `look` has found it.
    case found
    /// Fetch for itself: leases can't be used, the response can't be shared, or the holder takes too long.
    case alone
}

/// A lease that a load holds until its response is stored. It ends with its last reference at the latest.
public protocol LeaseHold: AnyObject, Sendable {
    /// The store that takes what is fetched under the lease; `nil` for the tier's own, which is the default.
    var store: (any ResponseStore)? { get }

    /// The store that takes what else the load has found out, such as redirects to the source; `nil` for the tier's own,
    /// which is the default. Storing there doesn't end the lease.
    var relatedStore: (any ResponseStore)? { get }

    /// Ends the lease. A second call does nothing.
    /// - Parameter isStored: Whether the response is stored in ``store``. If not, waiters go on alone.
    func end(isStored: Bool) async
}

extension LeaseHold {
    /// The tier's own.
    public var store: (any ResponseStore)? { nil }

    /// The tier's own.
    public var relatedStore: (any ResponseStore)? { nil }
}

extension HTTPCache {
    /// Requests the lease of a source, and waits while another load holds it. A tier without leases lets each load go on
    /// alone.
    /// - Parameters:
    ///   - headers: The digest of the request's header fields.
    ///   - look: Looks in the tier again; returns whether the load has what it wants.
    /// - Throws: `CancellationError` at once when the task is cancelled, and the errors of `look`.
    package func turn(
        _ key: SourceKey, headers: SIMD2<UInt64>, patience: Duration, look: () async throws -> Bool
    ) async throws -> FetchTurn {
        try await leases?.turn("\(key)\(headers.x)\(headers.y)", patience: patience, look: look) ?? .alone
    }

    /// The tier as the holder of a lease may change it.
    package func held(by hold: (any LeaseHold)?) -> HTTPCache { over(hold?.store) }

    /// The tier as the holder of a lease may store related responses in it.
    package func related(to hold: (any LeaseHold)?) -> HTTPCache { over(hold?.relatedStore) }
}
