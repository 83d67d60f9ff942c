import Pipeline
import Stages

#if Fleet
import PipelineShared
#endif

/// Makes the pipeline for every source of a run, on this machine or from the network.
struct Recipe: Sendable {
    /// The stages that change the pixels.
    var operations = Chain([])
    /// Makes the stage that encodes a format; `nil` for pixels.
    var encode: (@Sendable (ImageFormat) -> Encode)?
    /// Replaces the whole list, for all sources.
    var whole: ImagePipeline?
    let resources: PipelineResources
    /// The list of the policy.
    let list: ImagePipeline
    /// The fleet of `--shared`.
    let fleet: Fleet?
    let budget: MemoryBudget
    /// How many frames of an animation are kept; `nil` for as many as the format holds and the limits allow.
    let frames: Int?
    /// The colours of the result; `nil` for the source's, where stages and format can keep them.
    var gamut: Gamut?
    /// The bits of a channel; likewise.
    var depth: Depth?
    /// What becomes of a gain map; likewise.
    var gainMap: GainMapHandling?

    init(_ source: SourceOptions, budget: MemoryBudget, encode: (@Sendable (ImageFormat) -> Encode)? = nil) {
        self.encode = encode
        resources = source.resources
        fleet = source.fleet(joinedBy: resources)
        list = source.policy.cachePolicy.pipeline(resources, fleet)
        self.budget = budget
        frames = source.frames?.most
    }

    /// Makes the list for a source.
    /// - Parameters:
    ///   - target: The result, whose format decides what encodes it and how many frames are kept.
    ///   - onHeader: Called with the header of each decoded file and the number of frames that are decoded.
    ///   - endsAtHeader: Whether loads end then, as if they were cancelled.
    /// - Throws: `LoadError` with `stageContract` if a stage could never run.
    func pipeline(
        _ source: ImageSource, _ target: OutputTarget, endsAtHeader: Bool = false,
        onHeader: (@Sendable (ImageHeader, Int) -> Void)? = nil
    ) throws -> ImagePipeline {
        let encode = encode.map { target.encoder($0) }
        if let whole {
            // A decode without a number of frames keeps as many as the format that is encoded holds.
            let list = try whole.encoding(encode)
            let holdsMotion = list.encodedFormat?.holdsMotion ?? target.mayHoldMotion
            let keptFrames = holdsMotion ? FramesArgument.all : 1
            return list.wrapping(Decode.self, where: .present) { decode in
                if frames == nil, decode.frames == FramesArgument.all {
                    WithinMemory(budget, cutsFrames: true, onHeader: onHeader, endsAtHeader: endsAtHeader) {
                        decode.keeping(frames: keptFrames)
                    }
                } else {
                    // The list has chosen how many frames are kept.
                    WithinMemory(
                        budget, cutsFrames: false, onHeader: { header, _ in onHeader?(header, header.frames) },
                        endsAtHeader: endsAtHeader
                    ) {
                        decode
                    }
                }
            }
        }
        var limits = resources.limits
        limits.frames = frames ?? (target.mayHoldMotion ? FramesArgument.all : 1)
        let pixels = WithinMemory(
            budget, cutsFrames: frames == nil, onHeader: onHeader, endsAtHeader: endsAtHeader
        ) {
            Decode(codecs: resources.codecs, limits: limits, allowTruncated: resources.allowTruncated)
            operations
            if let encode { encode }
        }
        guard source.isRemote else {
            return try ImagePipeline(
                validating: Chain {
                    ReadInline()
                    ReadFile(byteLimit: resources.limits.encodedBytes)
                    pixels
                }, clock: resources.clock)
        }
        return list.removing(Downscale.self).replacing(Decode.self, with: pixels)
    }

    /// A digest of everything that affects the results, except the format, which shows in the output's name.
    var signature: BLAKE2bDigest {
        get throws {
            let list = try pipeline(.bytes([]), OutputTarget(.webp)).signature
            let chosen = [gamut?.rawValue, depth?.rawValue, gainMap?.rawValue].compactMap(\.self)
            return chosen.isEmpty ? list : BLAKE2bDigest(of: "\(list) \(chosen.joined(separator: " "))")
        }
    }
}

extension Recipe {
    /// Loads the pixels of one source: a file, a URL, or `-` for standard input.
    func image(_ input: String) async throws -> DecodedImage {
        guard let image = try await response(input, Formats.standard).image else {
            throw LoadError(
                .unexpectedProduct, subject: Job(reading: input).shown, "The pipeline ends without pixels.")
        }
        return image
    }

    /// Loads one source: a file, a URL, or `-` for standard input.
    func response(_ input: String, _ format: ImageFormat) async throws -> LoadResponse {
        try await Job(reading: input).naming {
            let limit = resources.limits.encodedBytes
            let source =
                input == "-"
                ? .bytes(try await BlockingThreads.files.run { try StandardStream.readInput(limit: limit, $0) })
                : try ImageSource(argument: input)
            return try await pipeline(source, OutputTarget(format)).load(ImageRequest(source))
        }
    }

    /// The warning about what is lost; `nil` if nothing is lost against the user's will.
    func warning(_ header: ImageHeader, _ kept: Int, _ result: ImageFormat) -> String? {
        header.warning(
            kept: kept, isChosen: frames != nil, result: result, mapsColors: gamut == .sRGB,
            isReduced: depth == .eight, isBaseAlone: gainMap == .drop)
    }

    /// The warning that making a result would give. The source is read, and decoded no further than its header.
    /// - Parameter warning: Returns it for the header and the number of frames that are kept.
    /// - Throws: `LoadError` of a stage before that; `CancellationError`.
    func plannedWarning(
        _ source: ImageSource, _ target: OutputTarget, _ warning: @escaping @Sendable (ImageHeader, Int) -> String?
    ) async throws -> String? {
        let found = Lock<String?>(nil)
        let list = try pipeline(source, target, endsAtHeader: true) { header, kept in
            let text = warning(header, kept)
            found.withLock { $0 = text }
        }
        do {
            _ = try await list.load(request(source))
        } catch is CancellationError {
            try Task.checkCancellation()
        }
        return found.withLock(\.self)
    }

    func request(_ source: ImageSource) -> ImageRequest {
        ImageRequest(source, gamut: gamut, depth: depth, gainMap: gainMap)
    }

    /// Makes one result for each target.
    func render(
        _ source: ImageSource, _ job: Job, _ targets: [OutputTarget], _ reporter: WorkReporter
    ) async throws -> [Rendering] {
        let warnings = Lock<Set<String>>([])
        return try await targets.eachRendering { target in
            try await job.naming {
                let provenance = Lock<ProvenanceOutcome?>(nil)
                let list = try pipeline(source, target) { header, kept in
                    let text = warning(header, kept, target.format(of: header))
                    if let text, warnings.withLock({ $0.insert(text).inserted }) { reporter.warn(text, of: job) }
                    if header.hasProvenance { provenance.withLock { $0 = .removed } }
                }
                let response = try await list.load(request(source))
                guard let image = response.encoded else {
                    throw LoadError(
                        .unexpectedProduct, subject: job.shown, "The pipeline ends with pixels; it has no Encode.")
                }
                let made = target.following(.bytes(image.bytes))
                return Rendering(
                    target: made, image: image, response: response, provenance: provenance.withLock(\.self))
            }
        }
    }
}

extension ImagePipeline {
    /// The format of the list's `Encode`.
    fileprivate var encodedFormat: ImageFormat? {
        var format: ImageFormat?
        _ = wrapping(Encode.self, where: .present) { encode in
            let _ = format = encode.format
            encode
        }
        return format
    }

    /// The same list with an `Encode` before its `Store` or at its end, unless it has one.
    fileprivate func encoding(_ encode: (any Stage)?) throws -> ImagePipeline {
        guard let encode, !contains(Encode.self) else { return self }
        if contains(Store.self) { return inserting(encode, before: Store.self) }
        return try ImagePipeline(validating: Chain(chain.stages + [encode]), clock: clock)
    }
}
