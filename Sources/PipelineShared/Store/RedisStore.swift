import Essentials
import Pipeline
import PipelineHTTP

/// The bounds of the shared tier.
public struct FleetLimits: Sendable, Hashable {
    /// The most bytes of a response's content or of a result in Redis; 256,000 by default. A long value delays every other
    /// request of the server, so larger ones are kept in an ``S3Blobs``; without one they aren't shared.
    public var bytes: Int
    /// How long a response stays after its freshness has ended, so that another machine can have it confirmed; one hour
    /// by default.
    public var staleTime: Duration
    /// The longest time that a response stays without being confirmed; seven days by default.
    public var longestTime: Duration

    /// Describes bounds.
    public init(bytes: Int = 256_000, staleTime: Duration = .seconds(3600), longestTime: Duration = .seconds(604_800)) {
        self.bytes = bytes
        self.staleTime = staleTime
        self.longestTime = longestTime
    }
}

/// Keeps an `HTTPCache`'s responses in Redis, where all machines of a service find them.
///
/// Redis itself bounds the memory: every key has a time to live, and `maxmemory-policy volatile-lru` evicts the least
/// recently used. Without Redis, the store finds nothing and changes nothing.
///
/// It differs from other stores in two ways, since Redis answers in one round trip and serves all machines. An
/// invalidation counts 1 where it may have removed any number: it changes the epoch of a URL or tag, whatever is stored
/// under it. Larger results that are alike aren't looked for; machines do that on their disks.
struct RedisStore: PagedStore {
    let scripts: RedisScripts
    let keys: FleetKeys
    let limits: FleetLimits
    let reports: FleetReports
    /// Where larger values are kept.
    var blobs: BlobStore?
    /// The lease under which changes are made; `nil` for changes that need none.
    var lease: FleetLeaseToken?
    /// The number of the grant after which the origin was asked; 0 if there was none. What Redis numbered before it is
    /// older, whatever the machines' clocks say.
    var settledGeneration: Int64 = 0

    func find(
        _ key: SourceKey, priority: LoadPriority, choose: @escaping @Sendable ([StoredResponse]) -> StoredResponse?
    ) async throws -> StoreFinding {
        guard let (found, lastBody, last) = try await reading({ try await headsAndBody(key) }) else {
            return .unavailable
        }
        guard let chosen = choose(found.heads.map(\.head)) else { return .nothing(among: found.heads.count) }
        guard let head = found.heads.first(where: { $0.head.generation == chosen.generation }) else {
            return .nothing(among: found.heads.count)
        }
        var response = chosen
        if last == chosen.generation, let lastBody {
            response.body = lastBody
        } else {
            guard let body = try await reading({ try await body(of: chosen.generation, key) }) else {
                return .unavailable
            }
            // It may have been removed meanwhile.
            guard let body else { return .nothing(among: found.heads.count - 1) }
            response.body = body
        }
        guard CheckedValue.sum(of: response.body) == head.bodySum else {
            _ = await remove(key) { $0.generation == chosen.generation }
            return .damaged
        }
        if response.body.count == head.bodyLength { return .found(response) }
        guard let reference = BlobReference(response.body), reference.count == head.bodyLength else { return .damaged }
        guard let body = try await blobs?.bytes(of: reference) else { return .nothing(among: found.heads.count - 1) }
        response.body = body
        return .found(response)
    }

    func insert(
        _ response: StoredResponse, askedAt time: Date,
        replacing replace: @escaping @Sendable ([StoredResponse]) -> Set<Int64>?
    ) async -> StoreInsertion {
        let targets = response.targets
        let inserted = await writing { () -> StoreInsertion? in
            // A response without room for it may be outdated all the same, which Redis knows.
            let body = targets.count <= Self.mostTargets ? try await value(response.body) : nil
            let head = CheckedHead.bytes(response, bodySum: CheckedValue.sum(of: body ?? []))
            // Most often nothing is stored yet, so that is tried first.
            var found = FoundHeads.none
            for _ in 0..<Self.mostAttempts {
                guard let replaced = replace(found.heads.map(\.head)) else { return .outdated }
                let arguments = [
                    Array(keys.epochs.utf8), found.change, lease?.value ?? [], since(time), milliseconds(of: response),
                    Self.list(replaced), head, body ?? [], names(targets.prefix(Self.mostTargets)),
                    Self.digits(Self.mostVarying), Array((lease.map { keys.outcomes($0.name) } ?? "").utf8),
                    Self.digits(response.isSuccess ? 1 : 0), Self.digits(body == nil ? 0 : 1),
                ]
                let reply = try await scripts.run(
                    .insert,
                    keys: [
                        keys.entry(response.key), keys.counter, keys.generations, keys.lease(lease?.name ?? ""),
                        keys.failures(response.key),
                    ], arguments)
                switch reply.array?.first?.text {
                case "inserted":
                    guard let generation = reply.array?.last?.integer else { return nil }
                    reports.report(.stored(bytes: response.body.count))
                    return .inserted(generation, usedAt: response.stored, replaced: replaced)
                case "changed": found = FoundHeads(reply.array?.last, key: response.key)
                case "large": return .unavailable
                default:
                    reports.report(.commitRefused)
                    return .outdated
                }
            }
            return nil
        }
        return (inserted ?? nil) ?? .unavailable
    }

    func update(
        _ response: StoredResponse, if isCurrent: @escaping @Sendable (StoredResponse) -> Bool
    ) async -> Bool? {
        await writing {
            for _ in 0..<Self.mostAttempts {
                let found = try await heads(response.key)
                guard let stored = found.heads.first(where: { $0.head.generation == response.generation }),
                    isCurrent(stored.head)
                else { return false }
                let reply = try await scripts.run(
                    .update, keys: [keys.entry(response.key), keys.counter, keys.lease(lease?.name ?? "")],
                    [
                        Array(keys.epochs.utf8), found.change, lease?.value ?? [], since(response.requestTime),
                        milliseconds(of: response), Self.digits(response.generation),
                        CheckedHead.bytes(response, bodyLength: stored.bodyLength, bodySum: stored.bodySum),
                        names(response.targets),
                        Array((lease.map { keys.outcomes($0.name) } ?? "").utf8), Array(keys.taggedURLs.utf8),
                    ])
                switch reply.text {
                case "updated": return true
                case "changed": continue
                default:
                    reports.report(.commitRefused)
                    return false
                }
            }
            return false
        }
    }

    func remove(
        _ key: SourceKey, where isMeant: @escaping @Sendable (StoredResponse) -> Bool
    ) async -> [StoredResponse] {
        await writing(takesRoom: false) {
            for _ in 0..<Self.mostAttempts {
                let found = try await heads(key)
                let meant = found.heads.map(\.head).filter(isMeant)
                guard !meant.isEmpty else { return [] }
                let reply = try await scripts.run(
                    .remove, keys: [keys.entry(key), keys.counter, keys.generations],
                    [found.change, Self.list(Set(meant.map(\.generation)))])
                if reply.integer != -1 { return meant }
            }
            return []
        } ?? []
    }

    func invalidate(_ target: String, at time: Date) async -> Int {
        await writing(takesRoom: false) { try await invalidation(of: target).existed ? 1 : 0 } ?? 0
    }

    /// Makes a URL or a tag invalid on every machine, and in leases that were granted before.
    /// - Throws: ``RedisFailure``; `CancellationError` if the task is cancelled.
    func invalidation(of target: String) async throws -> (number: Int64, existed: Bool, heard: Int) {
        let reply = try await scripts.run(
            .invalidate,
            keys: [
                keys.counter, keys.epochs + keys.epoch(target), keys.log, keys.noted,
                keys.taggedURLs + keys.epoch(target),
            ],
            [
                Array(target.utf8), Array(keys.invalidations.utf8), Self.digits(600_000),
                Self.digits(MissedInvalidations.mostNoted), Self.digits(MissedInvalidations.noteTime),
                Array(keys.epochs.utf8),
            ])
        guard let values = reply.array, values.count == 3, let number = values[0].integer,
            let existed = values[1].integer, let heard = values[2].integer
        else { throw RedisFailure.refused("it sent an unexpected reply") }
        return (number, existed == 1, Int(heard))
    }
}
