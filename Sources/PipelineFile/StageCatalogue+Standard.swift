import Pipeline
public import Stages

extension StageCatalogue {
    /// Returns all stages of the library, which use the given resources.
    public static func standard(_ resources: PipelineResources) -> StageCatalogue {
        (sources(resources) + pixels(resources) + composites(resources)).reduce(operations(resources.codecs)) {
            $0.adding($1)
        }
    }

    static let rules = StageParameter(
        "rules", .choice(["asRequested", "http"]), "Whether a request's own expiry counts, or HTTP's rules alone.",
        standard: "asRequested")
    private static let lookupRules = StageParameter(
        "rules", .choice(["asRequested", "http", "offline"]),
        "Whether a request's own expiry counts, HTTP's rules alone, or, offline, no expiry at all.",
        standard: "asRequested")
    static let count = StageParameter.Kind.integer(1...1_000_000_000_000)
    static let delay = StageParameter.Kind.seconds(0...86_400)

    private static func byteLimit(_ limits: ImageLimits) -> StageParameter {
        StageParameter(
            "byteLimit", count, "The most bytes that a source may have.", standard: "\(limits.encodedBytes)",
            example: "10000000")
    }

    private static func sources(_ resources: PipelineResources) -> [StageSpecification] {
        [
            StageSpecification(
                "resolveIdentifier", summary: "Checks the source and gives the load its keys in the caches."
            ) { _ in
                ResolveIdentifier(credentials: resources.credentials, allowing: resources.allowedSources)
            },
            StageSpecification("memoryLookup", [lookupRules], summary: "Looks in memory for the list's result.") {
                MemoryLookup(resources.memory, rules: $0.rules)
            },
            StageSpecification("diskLookup", [lookupRules], summary: "Looks for a stored response.") {
                Lookup(resources.responses, rules: $0.rules)
            },
            StageSpecification(
                "variantLookup", summary: "Looks for an earlier result of the list's encode for the stored response."
            ) { _ in VariantLookup(resources.responses, expecting: .picture(resources.codecs)) },
            StageSpecification(
                "delay", [StageParameter("seconds", delay, "How long to wait.", isRequired: true, example: "0.1")],
                summary: "Waits before the next stages."
            ) { Delay($0.duration("seconds") ?? .zero) },
            StageSpecification("readInline", summary: "Reads a source that is bytes or a data URL.") { _ in ReadInline()
            },
            StageSpecification("readFile", [byteLimit(resources.limits)], summary: "Reads a source that is a file.") {
                ReadFile(byteLimit: $0.integer("byteLimit") ?? resources.limits.encodedBytes)
            },
            StageSpecification("fetch", [byteLimit(resources.limits)], summary: "Fetches the source from the origin.") {
                Fetch(
                    responses: resources.responses, client: resources.client,
                    byteLimit: $0.integer("byteLimit") ?? resources.limits.encodedBytes)
            },
            StageSpecification(
                "checkContentType",
                [
                    StageParameter(
                        "strict", .flag, "Refuses an image that is declared as another type.", standard: "false")
                ],
                summary: "Refuses a response that is not an image."
            ) {
                CheckContentType(codecs: resources.codecs, strict: $0.flag("strict"))
            },
            StageSpecification(
                "store",
                [
                    rules,
                    StageParameter("originals", .flag, "Keeps responses without decoding them.", standard: "false"),
                ],
                summary: "Keeps the response on disk and the result in memory; the last stage."
            ) {
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
            StageSpecification(
                "checkHeader", summary: "Refuses bytes that aren't an image, and images beyond the limits."
            ) { _ in
                CheckHeader(codecs: codecs, limits: limits)
            },
            StageSpecification(
                "decode",
                [
                    StageParameter(
                        "frames", .integer(1...10_000), "The most frames of an animation to decode.",
                        standard: "\(limits.frames)", example: "100"),
                    StageParameter(
                        "quality", .choice(["quality", "fast"]), "How close a reduced image comes to the best one.",
                        standard: "quality"),
                    StageParameter(
                        "allowTruncated", .flag, "Decodes what can be read of a truncated file.", standard: "false"),
                ], summary: "Turns the source's bytes into pixels, no more than the next stages need."
            ) { given in
                var limits = limits
                limits.frames = given.integer("frames") ?? limits.frames
                return Decode(
                    codecs: codecs, limits: limits, quality: given.text("quality") == "fast" ? .fast : .quality,
                    allowTruncated: given.flag("allowTruncated"), budget: resources.budget)
            },
            StageSpecification("downscale", summary: "Scales the image to the requested size.") { _ in
                Downscale()
            },
            StageSpecification(
                "encode",
                [
                    StageParameter("format", .choice(formats), "The format.", isRequired: true, example: "webp"),
                    StageParameter(
                        "quality", .integer(1...100), "From 1, small, to 100, faithful.", standard: "80", example: "75"),
                    StageParameter(
                        "maxBytes", count, "Lowers the quality until the file has no more bytes.", example: "50000"),
                    StageParameter(
                        "metadata", .choice(KeptMetadata.allCases.map(\.rawValue)),
                        "The part of the source's metadata to keep.",
                        standard: "none"),
                    StageParameter("lossless", .flag, "Writes without loss.", standard: "false"),
                    StageParameter("progressive", .flag, "Writes so that it shows coarsely first.", standard: "false"),
                    StageParameter("effort", .integer(0...9), "How hard the encoder tries to be small.", example: "4"),
                ], summary: "Turns pixels into the result's bytes.", example: "webp:75"
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
}

extension StageArguments {
    /// The rules of a stage that looks up or stores.
    var rules: CacheRules {
        switch text("rules") {
        case "http": .http
        case "offline": .offline
        default: .asRequested
        }
    }
}
