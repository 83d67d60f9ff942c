import Pipeline
public import Stages

extension StageCatalogue {
    /// All stages of the library, on resources of one's own.
    public static func standard(_ resources: PipelineResources) -> StageCatalogue {
        (sources(resources) + pixels(resources) + composites(resources)).reduce(operations(resources.codecs)) {
            $0.adding($1)
        }
    }

    private static let rules = StageParameter("rules", .choice(["asRequested", "http"]))

    private static func sources(_ resources: PipelineResources) -> [StageSpecification] {
        [
            StageSpecification("resolveIdentifier") { _ in
                ResolveIdentifier(credentials: resources.credentials, allowing: resources.allowedSources)
            },
            StageSpecification("memoryLookup", [rules]) { MemoryLookup(resources.memory, rules: $0.rules) },
            StageSpecification("diskLookup", [rules]) { DiskLookup(resources.responses, rules: $0.rules) },
            StageSpecification("variantLookup") { _ in VariantLookup(resources.responses) },
            StageSpecification("delay", [StageParameter("seconds", .seconds(0...86_400), isRequired: true)]) {
                Delay($0.duration("seconds") ?? .zero)
            },
            StageSpecification("readInline") { _ in ReadInline() },
            StageSpecification("readFile", [StageParameter("byteLimit", .integer(1...1_000_000_000_000))]) {
                ReadFile(byteLimit: $0.integer("byteLimit") ?? resources.limits.encodedBytes)
            },
            StageSpecification("fetch", [StageParameter("byteLimit", .integer(1...1_000_000_000_000))]) {
                Fetch(
                    resources.responses, resources.client,
                    byteLimit: $0.integer("byteLimit") ?? resources.limits.encodedBytes)
            },
            StageSpecification("checkContentType") { _ in CheckContentType(codecs: resources.codecs) },
            StageSpecification("store", [rules, StageParameter("originals", .flag)]) {
                $0.flag("originals")
                    ? Store(originals: resources.responses)
                    : Store(resources.memory, resources.responses, rules: $0.rules)
            },
        ]
    }

    private static func pixels(_ resources: PipelineResources) -> [StageSpecification] {
        let (codecs, limits) = (resources.codecs, resources.limits)
        let formats = codecs.codecs.filter { $0.encoder != nil }.compactMap(\.extensions.first)
        return [
            StageSpecification("checkHeader") { _ in CheckHeader(codecs: codecs, limits: limits) },
            StageSpecification(
                "decode",
                [
                    StageParameter("frames", .integer(1...10_000)),
                    StageParameter("quality", .choice(["quality", "fast"])), StageParameter("allowTruncated", .flag),
                ]
            ) { given in
                var limits = limits
                limits.frames = given.integer("frames") ?? limits.frames
                return Decode(
                    codecs: codecs, limits: limits, quality: given.text("quality") == "fast" ? .fast : .quality,
                    allowTruncated: given.flag("allowTruncated"))
            },
            StageSpecification("downscale") { _ in Downscale() },
            StageSpecification(
                "encode",
                [
                    StageParameter("format", .choice(formats), isRequired: true),
                    StageParameter("quality", .integer(1...100)),
                    StageParameter("maxBytes", .integer(1...1_000_000_000_000)),
                    StageParameter("metadata", .choice(KeptMetadata.allCases.map(\.rawValue))),
                    StageParameter("lossless", .flag), StageParameter("progressive", .flag),
                    StageParameter("effort", .integer(0...9)),
                ]
            ) { given in
                var options = EncodeOptions(
                    quality: given.integer("quality") ?? 80, maxBytes: given.integer("maxBytes"),
                    metadata: given.choice("metadata") ?? .none)
                let shared = SharedEncodeOptions(
                    lossless: given.flag("lossless"), progressive: given.flag("progressive"),
                    effort: given.integer("effort"))
                options.set(shared, for: codecs)
                guard let format = given.text("format").flatMap({ codecs.codec(forExtension: $0) })?.format else {
                    throw StageMistake("encode needs format: \(formats.joined(separator: ", ")).")
                }
                return Encode(format, options: options, codecs: codecs)
            },
        ]
    }

    private static let errorLimits = [
        StageParameter("clientAttempts", .integer(1...1_000_000)),
        StageParameter("clientMaxAge", .seconds(0...31_536_000)),
        StageParameter("serverAttempts", .integer(1...1_000_000)),
        StageParameter("serverMaxAge", .seconds(0...31_536_000)),
    ]

    private static func composites(_ resources: PipelineResources) -> [StageSpecification] {
        func composite(
            _ name: String, _ parameters: [StageParameter] = [],
            _ make: @escaping @Sendable (StageArguments) throws -> any Stage
        ) -> StageSpecification { StageSpecification(name, parameters, isComposite: true, make: make) }
        return [
            composite("coalesce", [StageParameter("by", .choice(["variant", "source"]), isRequired: true)]) { given in
                Coalesce(resources.flights, by: given.text("by") == "source" ? .source : .variant) { given.body }
            },
            composite("replaceUndecodable") { given in ReplaceUndecodable(resources.responses) { given.body } },
            composite("refreshStale") { given in RefreshStale(resources.flights) { given.body } },
            composite("lease", [rules, StageParameter("patience", .seconds(0...86_400))]) { given in
                Lease(
                    resources.responses, rules: given.rules, patience: given.duration("patience") ?? .seconds(30)
                ) { given.body }
            },
            composite("staleIfError") { given in StaleIfError { given.body } },
            composite("staleFirst") { given in StaleFirst { given.body } },
            composite("limitErrors", errorLimits) { given in
                let limits = try given.errorLimits ?? resources.errorLimits
                guard let limits else {
                    throw StageMistake("limitErrors needs clientAttempts, serverAttempts, or both.")
                }
                return LimitErrors(resources.responses, limits) { given.body }
            },
            composite("preview", [StageParameter("minimumBytes", .integer(1...1_000_000_000_000))]) { given in
                Preview(
                    codecs: resources.codecs, limits: resources.limits,
                    minimumBytes: given.integer("minimumBytes") ?? 16_384
                ) { given.body }
            },
            composite("firstOf") { given in FirstOf { given.body } },
            composite("alternative") { given in Alternative { given.body } },
            composite(
                "retry",
                [
                    StageParameter("attempts", .integer(1...100)),
                    StageParameter("initialDelay", .seconds(0...86_400)),
                    StageParameter("maximumDelay", .seconds(0...86_400)),
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
    /// For each class of statuses that has attempts; their age is five minutes, unless it is said.
    fileprivate var errorLimits: ErrorLimits? {
        get throws {
            func limit(_ name: String) throws -> ErrorLimits.Limit? {
                let maxAge = duration("\(name)MaxAge")
                if let attempts = integer("\(name)Attempts") {
                    return ErrorLimits.Limit(attempts: attempts, maxAge: maxAge ?? .seconds(300))
                }
                if maxAge != nil { throw StageMistake("limitErrors: \(name)MaxAge needs \(name)Attempts beside it.") }
                return nil
            }
            let limits = ErrorLimits(clientErrors: try limit("client"), serverErrors: try limit("server"))
            return limits == ErrorLimits() ? nil : limits
        }
    }

    fileprivate var rules: CacheRules { text("rules") == "http" ? .http : .asRequested }
}
