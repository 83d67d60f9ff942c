import ArgumentParser
import Stages

/// The option for the time of one image, shared by all verbs that read images.
struct TimeLimitOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Refuse images that take longer. (default: 30s) Reading, decoding, transforms and encoding count together; waiting for a core or for memory doesn't.",
            valueName: "time"),
        completion: .default)
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
