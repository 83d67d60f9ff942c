import ArgumentParser
import Pipeline
import PipelineShared
import Stages

/// The options for reading sources and their limits, shared by all verbs that decode.
struct SourceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Refuse images with more pixels. (default: 50M)", valueName: "n"),
        completion: .default)
    var maxPixels: CountArgument?

    @Option(
        help: ArgumentHelp("Refuse images with a longer side. (default: 100K)", valueName: "n"),
        completion: .default)
    var maxSide: CountArgument?

    @Option(
        help: ArgumentHelp("Refuse sources with more bytes. (default: 64M)", valueName: "size"), completion: .default)
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
        Isolation.shared.allow(limits)
        resources.allowTruncated = allowTruncated
        // Each source is loaded once in a run, so its product isn't needed in memory afterwards.
        resources.memory = MemoryCache(byteLimit: 0)
        return resources
    }
}
