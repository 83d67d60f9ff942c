public import Essentials
public import Logging
public import Pipeline
public import PipelineHTTP
public import Stages

/// The machines of a service that share responses, results, leases and invalidations through Redis.
///
/// ```swift
/// let fleet = Fleet(try RedisAddress("redis://cache.internal"))
/// let loader = try ImageLoader(resources, arrangement: fleet.arrangement)
/// fleet.join(resources)
/// await fleet.remove(tag: "product-17")              // from every tier of every machine
/// ```
///
/// Each machine keeps its memory and its disk. Between them and the origin stands the shared tier, under the rules of a
/// shared cache (RFC 9111 section 1.2.3): nothing `private` is in it, and `s-maxage` counts. Of all machines, one asks the
/// origin for an image; the others wait for its response. While Redis can't be used, every machine works by itself.
public final class Fleet: Sendable {
    /// The responses that all machines share. It works as long as it exists itself, unless the fleet is closed.
    public let cache: HTTPCache

    let store: RedisStore
    let leases: FleetLeases
    let reports: FleetReports
    let clock: any LoadClock
    private let members: FleetMembers
    private let messages: FleetMessages
    private let link: FleetLink

    /// Describes a fleet; nothing is connected yet.
    /// - Parameters:
    ///   - address: The Redis server.
    ///   - namespace: What all keys begin with, so that several services can share a server; by default that of the
    ///     address, or `pipeline`.
    ///   - limits: The bounds of the shared tier.
    ///   - blobs: Where responses and results of more than `FleetLimits.bytes` are kept; `nil`, the default, to share
    ///     none of these.
    ///   - connecting: How long to wait for the server.
    ///   - leaseLifetime: How long other machines wait for one that has died while it fetched; 5 seconds by default. A
    ///     machine that is alive renews its leases.
    ///   - users: Whose requests are answered; give it the same as the cache of ``join(_:)``.
    ///   - mayServeUncertain: Whether this machine serves its stored images as before while it doesn't hear of removals, so
    ///     that it may serve what was removed; `false` by default: the shared tier or the origin confirms each of them
    ///     first, as it does a stale one.
    ///   - clock: The clock by which freshness is calculated: that of this machine's `HTTPCache`, or its lists are refused.
    ///     The clocks of all machines have to agree to a second or two.
    ///   - observers: Receive what happens.
    ///   - logger: Logs each change of the server's state once.
    public init(
        _ address: RedisAddress, namespace: String? = nil, limits: FleetLimits = FleetLimits(),
        blobs: S3Blobs? = nil, connecting: RedisLimits = RedisLimits(), leaseLifetime: Duration = .seconds(5),
        users: HTTPCache.Users = .several, mayServeUncertain: Bool = false, clock: any LoadClock = SystemClock(),
        observers: [any FleetObserver] = [], logger: Logger = Logger(label: "pipeline.fleet")
    ) {
        let reports = FleetReports(address, observers: observers, logger: logger, clock: clock)
        let keys = FleetKeys(namespace: namespace ?? address.namespace ?? "pipeline")
        let members = FleetMembers(reports, clock: clock, mayServeUncertain: mayServeUncertain)
        let messages = FleetMessages(keys) {
            members.heard
        } changed: {
            members.take($0)
        }
        let probe = ["DEL", keys.probe]
        let connection = RedisConnection(address, limits: connecting, probe: probe) { change in
            reports.change(change)
            // The server that was the primary doesn't end its connections, and no message comes over that for messages.
            if case .lost(let failure) = change, failure.isNotPrimary { messages.renew() }
        }
        let blobStore = blobs.map { blobs in BlobStore(blobs) { reports.change($0, of: blobs.bucket) } }
        let store = RedisStore(
            scripts: RedisScripts(connection), keys: keys, limits: limits, reports: reports, blobs: blobStore)
        let messenger = RedisConnection(address, limits: connecting, role: .messages(messages), probe: probe)
        leases = FleetLeases(
            of: store, messages: messages, messenger: messenger, lifetime: leaseLifetime, clock: clock)
        let link = FleetLink(connection, messenger, members)
        cache = HTTPCache(
            store: store, leases: leases, source: .shared, isShared: true, users: users, clock: clock,
            noteLookup: { isHit in
                // A list holds the cache, and need not hold the fleet.
                withExtendedLifetime(link) { reports.report(.lookedUp(isHit: isHit)) }
            })
        (self.store, self.reports, self.clock) = (store, reports, clock)
        (self.members, self.messages, self.link) = (members, messages, link)
    }

    var connection: RedisConnection { link.connection }

    /// Clears this machine's memory and disk from now on of what any machine makes invalid.
    ///
    /// Until the machine hears of that, and whenever the connection is lost, its stored images may have been removed, so the
    /// shared tier or the origin confirms them before they are served. When the connection is back, invalidations that
    /// were missed are caught up on. If Redis doesn't know all of them any more, the memory tier is emptied, and what the
    /// disk has from before is confirmed.
    public func join(_ resources: PipelineResources) {
        if members.add(resources) { messages.renew() }
        link.messenger.begin()
    }

    /// Waits until this machine has heard of every removal, such as for a readiness probe: from then on its stored images
    /// are served without being confirmed.
    /// - Parameter limit: How long to wait.
    /// - Returns: Whether it has; `false` once the limit is over, or if the fleet is closed.
    /// - Throws: `CancellationError` at once if the task is cancelled.
    public func ready(within limit: Duration) async throws -> Bool {
        link.messenger.begin()
        return try await members.ready(within: limit)
    }

    /// Removes every response that came from a URL from all tiers of all machines, as `HTTPCache.remove(url:)` does.
    /// - Returns: Whether Redis was told. If not, only this machine's tiers are cleared.
    @discardableResult
    public func remove(_ url: URL) async -> Bool { await removal(of: url.targetText) != nil }

    /// Removes every response with a tag from all tiers of all machines, as `HTTPCache.remove(tag:)` does.
    /// - Returns: Whether Redis was told. If not, only this machine's tiers are cleared.
    @discardableResult
    public func remove(tag: String) async -> Bool { await removal(of: ResponseTags.target(tag)) != nil }

    /// Removes every response with a target, as ``remove(_:)`` does.
    /// - Returns: Whether the shared tier may have had any, and how many processes heard of it; `nil` if Redis wasn't told.
    package func removal(of target: String) async -> (existed: Bool, heard: Int)? {
        let removal = await store.writing(takesRoom: false) { [store] in try await store.invalidation(of: target) }
        // Its own machine need not wait for the message.
        await members.remove(target)
        return removal.map { ($0.existed, $0.heard) }
    }

    /// Ends the connections. Loads continue without the shared tier.
    public func close() { link.close() }

    /// Ends the connections as ``close()`` does, and returns once their threads have ended and no invalidation is being
    /// applied any more.
    public func shutdown() async {
        close()
        await link.ended()
    }
}

/// What connects a machine to the others. It ends with the fleet and the last list that has its tier.
final class FleetLink: Sendable {
    let connection: RedisConnection
    let messenger: RedisConnection
    private let members: FleetMembers

    init(_ connection: RedisConnection, _ messenger: RedisConnection, _ members: FleetMembers) {
        (self.connection, self.messenger, self.members) = (connection, messenger, members)
    }

    deinit { close() }

    func close() {
        // First, so that the end of the connection isn't a loss.
        members.close()
        connection.close()
        messenger.close()
    }

    /// Waits until everything that was closed has ended.
    func ended() async {
        await messenger.ended()
        await members.ended()
        await connection.ended()
    }
}
