/// What happens in the tier that machines share.
public enum FleetEvent: Sendable, Hashable {
    /// Redis is not asked any more, since it failed; why, without credentials.
    case lost(String)
    /// Redis is asked again.
    case restored
    /// Redis refused a request, such as one that this user may not send; its reply.
    case refused(String)
    /// Redis refuses writes, since it has no memory left and its policy evicts nothing.
    case full
    /// Redis takes writes again.
    case hasRoom
    /// The store of large responses is not asked any more, since it failed; why, without credentials.
    case blobsLost(String)
    /// The store of large responses refused to read an object; why, without credentials. That was a miss.
    case blobsRefused(String)
    /// The store of large responses is asked again.
    case blobsRestored
    /// A lookup in the shared tier ended.
    case lookedUp(isHit: Bool)
    /// A response or a result was stored in the shared tier; its bytes.
    case stored(bytes: Int)
    /// A load got the lease of its source.
    case leased
    /// A load waited for another machine's lease this long.
    case waited(Duration)
    /// The commit of a holder was refused, since its lease had ended or the URL had become invalid.
    case commitRefused
    /// A URL or a tag was made invalid, here or on another machine.
    case invalidated
    /// This machine doesn't hear of invalidations any more; why, without credentials. What its tiers have is confirmed
    /// before it is served, unless the fleet was told otherwise.
    case deaf(String)
    /// This machine hears of invalidations from now on, and has caught up on those that it missed.
    case listening
    /// This machine still doesn't hear of invalidations; for how long. It comes with each attempt to connect.
    case behind(Duration)
    /// The slowest reply of Redis since the last such event, a second or more ago. Without requests there is none.
    case latency(Duration)
    /// The memory tier was emptied: after a lost connection, invalidations may have been missed.
    case droppedMemory
}

/// Receives what happens in the tier that machines share, such as for metrics. It is called on any thread and must return
/// quickly.
public protocol FleetObserver: Sendable {
    /// Receives an event.
    func observe(_ event: FleetEvent)
}
