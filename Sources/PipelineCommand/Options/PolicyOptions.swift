import ArgumentParser
import Stages

/// The options for the cache policy and its delays, shared by all verbs.
struct PolicyOptions: ParsableArguments {
    enum Name: String, ExpressibleByArgument, CaseIterable {
        case returnCacheElseLoad, returnCacheDontLoad, offline, ignoreCache, useProtocol
    }

    @Option(help: "Choose which caches are used. One of \(Name.allCases.map(\.rawValue).joined(separator: ", ")).")
    var policy = Name.returnCacheElseLoad

    @Option(help: ArgumentHelp("Wait before the lookup on disk.", valueName: "time"))
    var cacheDelay: TimeArgument?

    @Option(help: ArgumentHelp("Wait before a request is sent.", valueName: "time"))
    var downloadDelay: TimeArgument?

    func validate() throws {
        for (name, delay) in [("--cache-delay", cacheDelay), ("--download-delay", downloadDelay)] {
            if let delay, delay.seconds > 86_400 {
                throw ValidationError("\(name) takes up to a day: 86400 or 24h.")
            }
        }
        let takesCacheDelay = policy == .returnCacheElseLoad || policy == .returnCacheDontLoad
        let takesDownloadDelay = policy == .returnCacheElseLoad || policy == .ignoreCache
        if cacheDelay != nil, !takesCacheDelay { throw ValidationError("\(policy.rawValue) has no --cache-delay.") }
        if downloadDelay != nil, !takesDownloadDelay {
            throw ValidationError("\(policy.rawValue) has no --download-delay.")
        }
    }

    /// The policy with its delays.
    var cachePolicy: CachePolicy {
        let cacheDelay = cacheDelay.map { Duration.seconds($0.seconds) }
        let downloadDelay = downloadDelay.map { Duration.seconds($0.seconds) }
        return switch policy {
        case .returnCacheElseLoad: .returnCacheElseLoad(cacheDelay: cacheDelay, downloadDelay: downloadDelay)
        case .returnCacheDontLoad: .returnCacheDontLoad(delay: cacheDelay)
        case .offline: .offline
        case .ignoreCache: .ignoreCache(delay: downloadDelay)
        case .useProtocol: .useProtocol
        }
    }
}
