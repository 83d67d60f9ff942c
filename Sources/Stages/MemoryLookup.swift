import PipelineHTTP
import Essentials
import HTTPTypes
public import Pipeline

/// Looks for the list's final product in memory. A hit ends the load without suspending.
public struct MemoryLookup: KeyedStage {
    private let memory: MemoryCache
    private let rules: CacheRules

    package static func specification(_ resources: PipelineResources) -> StageSpecification {
        StageSpecification("memoryLookup", "Looks in memory for the list's result.", .lookupRules) {
            MemoryLookup(resources.memory, rules: $0)
        }
    }

    /// Looks in `memory`. Under `CacheRules.http`, HTTP's rules alone decide what is fresh. Under `CacheRules.offline`,
    /// stale images are hits too, and the load is stale.
    public init(_ memory: MemoryCache, rules: CacheRules = .asRequested) {
        self.memory = memory
        self.rules = rules
    }

    public var accepts: Phases { .empty }

    public var produces: Phases { [.empty, .ready] }

    public var parameters: String { rules.text }

    public var identity: StageIdentity? { StageIdentity("\(rules)", over: [memory]) }

    /// Looks for the product. A stale entry is attached to the load, for stages that show it or let it stand in.
    public func run(_ load: inout Load) async throws -> Outcome {
        guard let key = load.variantKey else { return .skipped }
        load.note(key: .variant(key))
        let now = load.clock.now
        if !load.request.headers.isEmpty, load.request.source.isRemote,
            let wish = load.request.headers.wishForMemory
        {
            load.note("the request says \(wish), which the disk can judge")
            return .miss
        }
        guard let entry = memory.entry(for: key, now: now) else { return .miss }
        if !load.request.tags.isEmpty, !entry.has(load.request.tags) {
            load.note("the image lacks a tag of this load")
            return .miss
        }
        let end = entry.validity.end(for: load.request.expiry, under: rules)
        if let end {
            let isFromFuture = entry.validity.isFromFuture(at: now)
            if isFromFuture || end <= now {
                load.note(
                    isFromFuture
                        ? .text(Freshness.Verdict.clockSetBack.rawValue)
                        : .expired(for: .seconds(clamping: now.timeIntervalSince(end))))
                guard rules == .offline else {
                    load.attach(entry)
                    return .miss
                }
                load.isStale = true
            }
        }
        load.report(.hasCache(entry.product, source: .memory))
        load.give(entry, until: end)
        return .hit
    }
}

extension CacheRules {
    /// The rules in a stage's parentheses; nothing for the default.
    var text: String { self == .asRequested ? "" : "\(self) rules" }

    /// The tier and the rules in a stage's parentheses; nothing for the disk and the default rules.
    func text(in tier: HTTPCache) -> String {
        [tier.source == .disk ? "" : "\(tier.source)", text].filter { !$0.isEmpty }.joined(separator: ", ")
    }
}

extension StageParameter<CacheRules> {
    /// The rules of a stage that stores.
    package static var rules: Self {
        .optional(
            "rules", .choice([.asRequested, .http]), "Whether a request's own expiry counts, or HTTP's rules alone.",
            default: .asRequested)
    }

    /// The rules of a stage that only looks.
    static var lookupRules: Self {
        .optional(
            "rules", .choice([.asRequested, .http, .offline]),
            "Whether a request's own expiry counts, HTTP's rules alone, or, offline, no expiry at all.",
            default: .asRequested)
    }
}

extension HTTPFields {
    /// A directive of the request that can be checked only against the stored response itself (RFC 9111 sections 5.2.1
    /// and 5.4).
    fileprivate var wishForMemory: String? {
        let control = CacheControl(self)
        if control.isEmpty, pragmaNoCache { return "no-cache" }
        return ["no-cache", "no-store", "max-age", "min-fresh"].first { control.contains($0) }
    }
}
