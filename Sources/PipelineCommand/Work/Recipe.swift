import Pipeline
import Stages

/// What is made of every source of a run: the list of stages, for sources on this machine and for those of the network.
struct Recipe: Sendable {
    /// What is done to the pixels.
    var operations = Chain([])
    /// The stage that writes a format; `nil` for pixels.
    var encode: (@Sendable (ImageFormat) -> Encode)?
    /// Takes the place of the whole list, for all sources.
    var whole: ImagePipeline?
    let resources: PipelineResources
    let policy: CachePolicy
    let budget: MemoryBudget
    /// How many frames of an animation are kept; `nil` for as many as the format holds and the limits allow.
    let frames: Int?

    init(_ source: SourceOptions, budget: MemoryBudget, encode: (@Sendable (ImageFormat) -> Encode)? = nil) {
        self.encode = encode
        resources = source.resources
        policy = source.policy.cachePolicy
        self.budget = budget
        frames = source.frames?.most
    }

    /// The list for a source.
    /// - Parameter onHeader: Is called with the header of each file that is decoded, and the number of frames that are.
    /// - Throws: `LoadError` with `stageContract` if a stage could never run.
    func pipeline(
        _ source: ImageSource, _ format: ImageFormat, onHeader: (@Sendable (ImageHeader, Int) -> Void)? = nil
    ) throws -> ImagePipeline {
        if let whole { return try whole.encoding(encode?(format)) }
        var limits = resources.limits
        limits.frames = frames ?? (format.holdsMotion ? FramesArgument.all : 1)
        let pixels = WithinMemory(budget, cutsFrames: frames == nil, onHeader: onHeader) {
            Decode(codecs: resources.codecs, limits: limits, allowTruncated: resources.allowTruncated)
            operations
            if let encode { encode(format) }
        }
        guard source.isRemote else {
            return try ImagePipeline(
                validating: Chain {
                    ReadInline()
                    ReadFile(byteLimit: resources.limits.encodedBytes)
                    pixels
                }, clock: resources.clock)
        }
        return policy.pipeline(resources).removing(Downscale.self).replacing(Decode.self, with: pixels)
    }

    /// Everything that changes what is made of a source's bytes, but for the format, which shows in the output's name.
    var signature: Digest { get throws { try pipeline(.bytes([]), .webp).signature } }
}

extension Recipe {
    /// The pixels of one source: a file, a URL, or `-` for standard input.
    func image(_ input: String) async throws -> DecodedImage {
        guard let image = try await response(input, Formats.standard).image else {
            throw LoadError(
                .unexpectedProduct, subject: Job(reading: input).shown, "The pipeline ends without pixels.")
        }
        return image
    }

    /// What is made of one source: a file, a URL, or `-` for standard input.
    func response(_ input: String, _ format: ImageFormat) async throws -> LoadResponse {
        do {
            let limit = resources.limits.encodedBytes
            let source =
                input == "-"
                ? .bytes(try await BlockingThreads.files.run { try StandardStream.readInput(limit: limit, $0) })
                : try ImageSource(argument: input)
            return try await pipeline(source, format).load(ImageRequest(source))
        } catch let error as LoadError {
            throw error.named(Job(reading: input))
        }
    }
}

extension ImagePipeline {
    /// The same with an `Encode` after what made or stored pixels, unless it has one.
    fileprivate func encoding(_ encode: Encode?) throws -> ImagePipeline {
        guard let encode, !contains(Encode.self) else { return self }
        if contains(Store.self) { return inserting(encode, before: Store.self) }
        return try ImagePipeline(validating: Chain(chain.stages + [encode]), clock: clock)
    }
}
