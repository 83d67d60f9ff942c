import Pipeline
import Stages

extension StageCatalogue {
    private static let errorLimits = [
        StageParameter(
            "clientAttempts", .integer(1...1_000_000), "How many errors of 400 to 499 in a row stop requests.",
            example: "2"),
        StageParameter(
            "clientMaxAge", age, "How long requests stop after the last one.", standard: "300", example: "600"),
        StageParameter(
            "serverAttempts", .integer(1...1_000_000), "How many errors of 500 to 599 in a row stop requests.",
            example: "3"),
        StageParameter(
            "serverMaxAge", age, "How long requests stop after the last one.", standard: "300", example: "600"),
    ]
    private static let age = StageParameter.Kind.seconds(0...31_536_000)

    static func composites(_ resources: PipelineResources) -> [StageSpecification] {
        func composite(
            _ name: String, _ summary: String, _ parameters: [StageParameter] = [], example: String? = nil,
            _ make: @escaping @Sendable (StageArguments) throws -> any Stage
        ) -> StageSpecification {
            StageSpecification(name, parameters, isComposite: true, summary: summary, example: example, make: make)
        }
        return [
            composite(
                "coalesce", "Runs its stages once for all loads of the same image.",
                [
                    StageParameter(
                        "by", .choice(["variant", "source"]), "What the loads must have in common.", isRequired: true)
                ]
            ) { given in
                Coalesce(resources.flights, by: given.text("by") == "source" ? .source : .variant) { given.body }
            },
            composite(
                "fromLargerVariant", "Makes a result from a stored one of at least twice its size, if there is one.",
                example: "[decode, downscale, encode: webp]"
            ) { given in
                let stage = FromLargerVariant(resources.responses) { given.body }
                guard stage.canReuse else {
                    throw StageMistake(
                        "fromLargerVariant wraps decode, downscale and encode, and no decode that is fast.")
                }
                return stage
            },
            composite("replaceUndecodable", "Removes a stored response that isn't an image, and runs its stages again.")
            {
                given in ReplaceUndecodable(resources.responses) { given.body }
            },
            composite("refreshStale", "Serves a stale image if its response allows that, and refreshes it for later.") {
                given in RefreshStale(resources.flights) { given.body }
            },
            composite(
                "lease", "Runs its stages in one process at a time.",
                [
                    rules,
                    StageParameter(
                        "patience", delay, "How long to wait for another process.", standard: "30", example: "10"),
                ]
            ) { given in
                Lease(
                    resources.responses, rules: given.rules, patience: given.duration("patience") ?? .seconds(30)
                ) { given.body }
            },
            composite("staleIfError", "Falls back to a stale image if the origin can't be reached.") { given in
                StaleIfError { given.body }
            },
            composite("staleFirst", "Shows a stale image until the origin has answered.") { given in
                StaleFirst { given.body }
            },
            composite(
                "limitErrors", "Repeats an origin's error without a request if it came too often.", errorLimits,
                example: "clientAttempts=2:serverAttempts=3"
            ) { given in
                let limits = try given.errorLimits ?? resources.errorLimits
                guard let limits else {
                    throw StageMistake("limitErrors needs clientAttempts, serverAttempts, or both.")
                }
                return LimitErrors(limits, in: resources.responses) { given.body }
            },
            composite(
                "preview", "Shows previews while an image is fetched.",
                [
                    StageParameter(
                        "minimumBytes", count, "The bytes before the first preview and between two.", standard: "16384",
                        example: "4096")
                ]
            ) { given in
                Preview(
                    codecs: resources.codecs, limits: resources.limits,
                    minimumBytes: given.integer("minimumBytes") ?? 16_384
                ) { given.body }
            },
            composite("firstOf", "Tries its stages in order until one yields something.") { given in
                FirstOf { given.body }
            },
            composite("alternative", "Groups several stages into one alternative.") { given in
                Alternative { given.body }
            },
            composite(
                "retry", "Runs its stages again after a temporary failure.",
                [
                    StageParameter(
                        "attempts", .integer(1...100), "How often the stages run at most.", standard: "3", example: "5"),
                    StageParameter(
                        "initialDelay", delay, "The longest wait before the second attempt.", standard: "0.5",
                        example: "1"),
                    StageParameter(
                        "maximumDelay", delay, "The longest wait before any attempt.", standard: "30", example: "60"),
                ]
            ) { given in
                Retry(
                    attempts: given.integer("attempts") ?? 3,
                    initialDelay: given.duration("initialDelay") ?? .milliseconds(500),
                    maximumDelay: given.duration("maximumDelay") ?? .seconds(30)
                ) { given.body }
            },
        ]
    }
}

extension StageArguments {
    /// The limits of each class of statuses that has attempts; the default age is five minutes.
    fileprivate var errorLimits: ErrorLimits? {
        get throws {
            func limit(_ name: String) throws -> ErrorLimits.Limit? {
                let maxAge = duration("\(name)MaxAge")
                if let attempts = integer("\(name)Attempts") {
                    return ErrorLimits.Limit(attempts: attempts, maxAge: maxAge ?? .seconds(300))
                }
                if maxAge != nil { throw StageMistake("limitErrors: \(name)MaxAge needs \(name)Attempts.") }
                return nil
            }
            let limits = ErrorLimits(clientErrors: try limit("client"), serverErrors: try limit("server"))
            return limits == ErrorLimits() ? nil : limits
        }
    }
}
