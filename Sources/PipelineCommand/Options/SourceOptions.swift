import ArgumentParser
import Pipeline
import Stages

#if Fleet
import PipelineShared
#endif

/// The options for reading sources and their limits, shared by all verbs that decode.
struct SourceOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Refuse images with more pixels. (default: 50M)", valueName: "n"))
    var maxPixels: CountArgument?

    @Option(help: ArgumentHelp("Refuse images with a longer side. (default: 100K)", valueName: "n"))
    var maxSide: CountArgument?

    @Option(help: ArgumentHelp("Refuse sources with more bytes. (default: 64M)", valueName: "size"))
    var maxSourceBytes: CountArgument?

    @OptionGroup var time: TimeLimitOptions

    @Option(
        help: ArgumentHelp(
            "Keep N frames of an animation, or all. (default: all that the limits allow, where the output's format has frames) At most \(FramesArgument.all) are kept.",
            valueName: "n|all"),
        completion: .list(["all", "1"]))
    var frames: FramesArgument?

    @Flag(help: "Accept truncated images. Whatever can be decoded is used. (default: an error)")
    var allowTruncated = false

    @OptionGroup var isolation: IsolationOptions

    @OptionGroup var policy: PolicyOptions

    @OptionGroup var addresses: AddressOptions

    @OptionGroup var cache: CacheOptions

    @OptionGroup var shared: SharedOptions

    func validate() throws {
        for (name, limit) in [
            ("--max-pixels", maxPixels), ("--max-side", maxSide), ("--max-source-bytes", maxSourceBytes),
        ] {
            if let limit, limit.count < 1 { throw ValidationError("\(name) takes 1 or more.") }
        }
        try shared.check(policy.cachePolicy)
    }

    /// What an image may cost.
    var limits: ImageLimits {
        var limits = time.limits
        limits.frames = frames?.most ?? 1
        if let maxPixels { limits.pixels = maxPixels.count }
        if let maxSide { limits.side = maxSide.count }
        if let maxSourceBytes { limits.encodedBytes = maxSourceBytes.count }
        return limits
    }

    /// The fleet that the resources join; `nil` without `--shared`.
    func fleet(joinedBy resources: PipelineResources) -> Fleet? {
        let fleet = shared.fleet()
        fleet?.join(resources)
        return fleet
    }

    /// The caches and the client for sources that are URLs. Nothing is opened until it is needed.
    var resources: PipelineResources {
        var resources = cache.resources(addresses.policy, sourceBytes: limits.encodedBytes)
        resources.limits = limits
        DecodingProcesses.begin(limits)
        resources.allowTruncated = allowTruncated
        // Each source is loaded once in a run, so its product isn't needed in memory afterwards.
        resources.memory = MemoryCache(byteLimit: 0)
        return resources
    }
}

/// The option for the addresses that may be asked, shared by all verbs that send requests.
struct AddressOptions: ParsableArguments {
    @Flag(help: "Refuse private and local addresses.") var publicOnly = false

    /// All, as curl does, unless the flag is set.
    var policy: AddressPolicy { publicOnly ? .publicOnly : .any }
}

/// The option for decoding in confined processes, shared by all verbs that decode.
struct IsolationOptions: ParsableArguments {
    @Flag(
        inversion: .prefixedNo, exclusivity: .chooseLast,
        help:
            "Decode in confined processes, or not at all. By default, as far as this system allows; with --no-isolate, in this process, except for SVG and JPEG XL."
    )
    var isolate: Bool?

    #if !Isolation
    func validate() throws {
        if isolate == true { throw ValidationError("This program was built without the trait Isolation.") }
    }
    #endif

    /// What a verb's words say.
    static func choice(in words: some Collection<String>) -> Bool? {
        words.reversed().first { $0 == "--isolate" || $0 == "--no-isolate" }.map { $0 == "--isolate" }
    }
}

/// The option for the time of one image, shared by all verbs that read images.
struct TimeLimitOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Refuse images that take longer. (default: 30s) Reading, decoding, transforms and encoding count together; waiting for a core or for memory doesn't.",
            valueName: "time"), completion: .default)
    var maxTime: TimeArgument?

    func validate() throws {
        if let maxTime, maxTime.seconds <= 0 { throw ValidationError("--max-time takes more than 0.") }
    }

    /// The default limits with this time.
    var limits: ImageLimits {
        var limits = ImageLimits()
        if let maxTime { limits.time = .seconds(maxTime.seconds) }
        return limits
    }
}

/// The options for the cache policy and its delays, shared by all verbs.
struct PolicyOptions: ParsableArguments {
    enum Name: String, ExpressibleByArgument, CaseIterable {
        case returnCacheElseLoad, returnCacheDontLoad, offline, ignoreCache, useProtocol
    }

    @Option(help: "Choose which caches are used. One of \(Name.allCases.map(\.rawValue).joined(separator: ", ")).")
    var policy = Name.returnCacheElseLoad

    @Option(help: ArgumentHelp("Wait before the lookup on disk.", valueName: "time")) var cacheDelay: TimeArgument?

    @Option(help: ArgumentHelp("Wait before a request is sent.", valueName: "time")) var downloadDelay: TimeArgument?

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

extension CachePolicy {
    /// The policy's list, with the shared tier of a fleet if there is one.
    func pipeline(_ resources: PipelineResources, _ fleet: Fleet?) -> ImagePipeline {
        fleet?.arrangement(self, resources) ?? pipeline(resources)
    }
}
