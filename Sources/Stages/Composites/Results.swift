import PipelineHTTP
import PipelineImages
public import Pipeline

/// Looks for an earlier result, and runs its body only if there is none.
///
/// ```swift
/// Results(disk, shared) {
///     Decode()
///     Downscale()
///     Encode(.webp)
/// }
/// Store(memory, disk, shared)
/// ```
///
/// The nearest tier has results next to their responses: the list's ``Store`` stores them there, and they are removed
/// with the responses. Farther tiers, such as one that machines share, have them under names, which are made of the
/// source's bytes, the source and the list. So they never outlive a change of the image, and need no invalidation. There
/// the load that makes a result holds a lease, and others wait for it. A result of a response that a farther tier must
/// not store isn't stored there either.
///
/// Results of a file are in the nearest tier too, if that is a disk's, for as long as the file is the same: by its path,
/// length and modification time, and without an identifier.
///
/// A stored result that the list can't have made is a miss, and replaced: see ``ExpectedResult``. Where anything is
/// expected, results are in the nearest tier only.
public struct Results: CompositeStage, KeyedStage {
    public var body: Chain
    /// The nearest first.
    private let tiers: [HTTPCache]
    private let expected: ExpectedResult
    private let patience: Duration

    /// - Parameter far: The tier beyond the disk, if there is one.
    package static func specification(
        _ resources: PipelineResources, _ name: String = "results",
        _ summary: String = "Looks for an earlier result of its stages, and runs them if there is none.",
        and far: @escaping @Sendable () throws -> HTTPCache? = { nil }
    ) -> StageSpecification {
        StageSpecification(
            composite: name, summary,
            example: "[decode, downscale, encode: webp]", .patience("machine")
        ) {
            Results(
                [resources.responses, try far()].compactMap(\.self), .picture(resources.codecs), patience: $1, $0())
        }
    }

    /// Wraps the stages that make a result.
    /// - Parameters:
    ///   - tiers: Have results, the nearest tier first.
    ///   - expected: What the body makes: by default pictures in the formats of `ImageCodecs.standard`.
    ///   - patience: How long to wait for another load that makes the result, in a farther tier; 30 s by default. Then the
    ///     body runs without a lease.
    ///   - body: The stages.
    public init(
        _ tiers: HTTPCache..., expecting expected: ExpectedResult = .picture(.standard),
        patience: Duration = .seconds(30), @ChainBuilder _ body: () -> Chain
    ) {
        self.init(tiers, expected, patience: patience, body())
    }

    package init(
        _ tiers: [HTTPCache], _ expected: ExpectedResult, patience: Duration = .seconds(30), _ body: Chain
    ) {
        (self.tiers, self.expected, self.patience, self.body) = (tiers, expected, patience, body)
    }

    /// The same stage, with one more tier, the farthest.
    package func adding(_ tier: HTTPCache) -> Results { Results(tiers + [tier], expected, patience: patience, body) }

    public var accepts: Phases { .original }

    /// What the body makes, or an earlier result.
    public var produces: Phases { body.outcomes(from: .original).union(.encoded) }

    public var parameters: String { tiers.map(\.source).filter { $0 != .disk }.map { "\($0)" }.joined(separator: ", ") }

    public var identity: StageIdentity? { expected.identity("\(patience)", over: tiers) }

    /// Looks for the result, and runs the body if there is none.
    /// - Throws: The body's errors; `CancellationError` at once when the task is cancelled.
    public func run(_ load: inout Load) async throws -> Outcome {
        guard case .original(let file) = load.content, let key = load.variantKey else { return .skipped }
        load.note(key: .variant(key))
        let source = ResultsOfFile(load, in: tiers.first)
        if let image = try await nearestResult(key, source, load), expected.includes(image) {
            load.advance(to: .encoded(image), from: source == nil ? nil : .disk)
            return .hit
        }
        let farther = expected.isChecked ? tiers.dropFirst().filter { load.mayBeStored(in: $0) } : []
        guard !farther.isEmpty else {
            try await body.run(&load)
            if let source, case .encoded(let image) = load.content, expected.includes(image) {
                await source.keep(image, as: key, load)
            }
            return .miss
        }
        let name = try await BlockingThreads.files.run(priority: load.priority) { _ in
            "\(VariantKey.version).\(BLAKE2bDigest(of: key.digest.bytes + BLAKE2bDigest(of: file.bytes).bytes))"
        }
        return try await find(name, farther[...], &load) ? .hit : .miss
    }

    /// The result in the nearest tier, of the stored response or the file that the load's original came from.
    private func nearestResult(
        _ key: VariantKey, _ file: ResultsOfFile?, _ load: Load
    ) async throws -> EncodedImage? {
        if let file { return try await file.result(key, load.priority) }
        guard let stored = load.storedOriginal, let nearest = tiers.first, stored.belongs(to: nearest) else {
            return nil
        }
        return try await nearest.variant(key, of: stored.generation, priority: load.priority)
    }

    /// Looks in the tiers one after the other, and runs the body while it holds the leases of all.
    /// - Returns: Whether the result was found.
    private func find(_ name: String, _ tiers: ArraySlice<HTTPCache>, _ load: inout Load) async throws -> Bool {
        guard let tier = tiers.first else {
            try await body.run(&load)
            return false
        }
        var image = try await result(name, in: tier, load.priority)
        var hold: (any LeaseHold)?
        if image == nil, let leases = tier.leases {
            let priority = load.priority
            let turn = try await leases.turn("v" + name, patience: patience) {
                image = try await result(name, in: tier, priority)
                return image != nil
            }
            if case .hold(let granted) = turn { hold = granted }
        }
        if let image {
            load.advance(to: .encoded(image))
            return true
        }
        var isStored = false
        let isFound: Bool
        do {
            isFound = try await find(name, tiers.dropFirst(), &load)
        } catch {
            await hold?.end(isStored: false)
            throw error
        }
        if case .encoded(let image) = load.content, expected.includes(image),
            hold != nil || tier.leases?.isFencing != true
        {
            isStored = await (hold?.store ?? tier.store).keep(image, named: name)
        }
        await hold?.end(isStored: isStored)
        return isFound
    }

    private func result(_ name: String, in tier: HTTPCache, _ priority: LoadPriority) async throws -> EncodedImage? {
        let image = try await tier.store.result(named: name, priority: priority)
        return image.flatMap { expected.includes($0) ? $0 : nil }
    }
}

extension Load {
    /// Whether a tier may store the response behind the load.
    fileprivate func mayBeStored(in tier: HTTPCache) -> Bool {
        guard request.source.isRemote, let sourceKey else { return false }
        let exchange: HTTPExchange? =
            switch response {
            case .fetched(let exchange): exchange
            case .confirmed(let stored, let update): HTTPExchange(of: stored, for: update.requestHeaders)
            case .fresh(let stored, _), .stale(let stored, _): HTTPExchange(of: stored, for: request.headers)
            case .unknown: nil
            }
        guard let exchange else { return false }
        return tier.policy.draft(exchange, sourceKey, now: clock.now, request.expiry, .http) != nil
    }
}

extension ImagePipeline {
    /// Returns the list with an `Encode`, whose results are stored in the tier of the list's ``Store`` next to their
    /// responses, and looked up before anything is decoded.
    ///
    /// ```swift
    /// let thumbnails = ImagePipeline.returnCacheElseLoad(resources).encoding(Encode(.webp), keptIn: resources.responses)
    /// ```
    ///
    /// A ``Results`` is put around the stages from `Decode` to the end of their list, and the encoding stage becomes the
    /// last of them.
    /// - Parameters:
    ///   - encode: The stage that makes the result: an `Encode`, or a stage of your own with a signature.
    ///   - responses: The cache that the list's responses are stored in.
    ///   - expected: Which stored results are used; by default pictures in the formats of the `Encode`, and anything from
    ///     a stage of your own.
    /// - Precondition: The list has a `Decode`, and no `Results`.
    public func encoding(
        _ encode: any Stage, keptIn responses: HTTPCache, expecting expected: ExpectedResult? = nil
    ) -> ImagePipeline {
        let expected = expected ?? (encode as? Encode).map { .picture($0.codecs) } ?? .anything
        return wrapping(from: Decode.self) { stages in
            Results(responses, expecting: expected) {
                stages
                encode
            }
        }
    }
}
