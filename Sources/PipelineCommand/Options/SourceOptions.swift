import ArgumentParser
import Pipeline
import Stages

/// How sources are read and what they may cost: the same words in every verb that decodes.
struct SourceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Refuse pictures with more pixels. (default: 50000000)", valueName: "n"),
        completion: .default)
    var maxPixels: Int?

    @Option(
        help: ArgumentHelp("Refuse pictures with a longer side. (default: 100000)", valueName: "n"),
        completion: .default)
    var maxSide: Int?

    @Option(
        help: ArgumentHelp("Refuse sources with more bytes. (default: 64M)", valueName: "size"), completion: .default)
    var maxSourceBytes: ByteCountArgument?

    @Option(help: ArgumentHelp("Decode up to N frames of an animation.", valueName: "n"))
    var frames = 1

    @Flag(help: "Accept truncated images. Whatever can be decoded is used. (default: an error)")
    var allowTruncated = false

    @OptionGroup var policy: PolicyOptions

    @OptionGroup var addresses: AddressOptions

    @OptionGroup var cache: CacheOptions

    func validate() throws {
        if let maxPixels, maxPixels < 1 { throw ValidationError("--max-pixels takes 1 or more, not \(maxPixels).") }
        if let maxSide, maxSide < 1 { throw ValidationError("--max-side takes 1 or more, not \(maxSide).") }
        if let maxSourceBytes, maxSourceBytes.bytes < 1 {
            throw ValidationError("--max-source-bytes takes 1 or more.")
        }
        guard 1...10_000 ~= frames else { throw ValidationError("--frames takes 1 to 10000, not \(frames).") }
    }

    var limits: ImageLimits {
        ImageLimits(
            pixels: maxPixels ?? 50_000_000, side: maxSide ?? 100_000,
            encodedBytes: maxSourceBytes?.bytes ?? 64_000_000, frames: frames)
    }

    /// The caches and the client for sources that are URLs. Nothing is opened until it is needed.
    var resources: PipelineResources {
        var resources = cache.resources(addresses.policy, sourceBytes: limits.encodedBytes)
        resources.limits = limits
        resources.allowTruncated = allowTruncated
        // A source is asked for once in a run: its product has no use in memory afterwards.
        resources.memory = MemoryCache(byteLimit: 0)
        return resources
    }
}
