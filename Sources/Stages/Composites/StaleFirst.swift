import PipelineHTTP
public import Pipeline

/// Reports a cache's stale image before the request to the origin. If the origin confirms the image with a 304, that
/// same image is the result.
///
/// ```swift
/// StaleFirst {
///     Fetch(client)
///     Decode()
///     Downscale()
/// }
/// Store(memory, responses)                         // outside, so that nothing stale is stored as if it were new
/// ```
///
/// An image that is still in memory is reported and confirmed without decoding. An image that is only on disk is
/// decoded concurrently with the request, if interim images are shown (`Load.showsInterimImages`). The request's events
/// wait for the decoding, but the request itself doesn't.
public struct StaleFirst: CompositeStage {
    /// The stages from the one that asks the origin to those that make the image.
    public var body: Chain

    package static let specification = StageSpecification(
        composite: "staleFirst", "Shows a stale image until the origin has answered.", make: StaleFirst.init)

    /// Wraps the stages from the one that asks the origin to those that make the image.
    public init(@ChainBuilder _ body: () -> Chain) { self.body = body() }

    public var identity: StageIdentity? { StageIdentity() }

    public func run(_ load: inout Load) async throws -> Outcome {
        let entry = load.response.stored
        if load.phase != .empty {
            try await body.run(&load)
        } else if let kept = load.attachment(MemoryEntry.self),
            entry.map({ $0.isRedirect || kept.isMade(from: $0) }) ?? true
        {
            // Once the origin has answered with a redirect, nothing stale is shown.
            if !load.isRequestOpen { load.report(.hasCache(kept.product, source: .memory)) }
            let image = content(of: kept.product, in: load)
            if let remaining = try await run(&load, confirming: entry) { try await finish(&load, image, remaining) }
        } else if let entry, !entry.isRedirect, load.showsInterimImages, !load.isRequestOpen {
            try await runDecoding(entry, &load)
        } else {
            try await body.run(&load)
        }
        return .done
    }

    /// The product as the body would leave it; `nil` if later stages of the list work on it, so that the body's result
    /// differs.
    private func content(of product: LoadProduct, in load: Load) -> LoadContent? {
        guard case .image(let image) = product, body.signature == load.list else { return nil }
        return .decoded(image)
    }

    /// Runs the body until the source's bytes turn out to be those of `entry`.
    /// - Returns: The stages that have yet to run; `nil` if the body has run whole.
    private func run(_ load: inout Load, confirming entry: StoredResponse?) async throws -> Chain? {
        for (index, stage) in body.stages.enumerated() {
            try await Chain([stage]).run(&load)
            if case .original = load.content, let entry, load.storedOriginal?.generation == entry.generation {
                return Chain(Array(body.stages[(index + 1)...]))
            }
        }
        return nil
    }

    /// Uses the image of the confirmed bytes as the result of the remaining stages, or runs these if there is none.
    private func finish(_ load: inout Load, _ image: LoadContent?, _ remaining: Chain) async throws {
        guard let image else { return try await remaining.run(&load) }
        load.advance(to: image)
        load.note("confirmed: the image is the one reported before")
    }

    /// Decodes a stale response while the body runs. The body's events come after the stale image.
    private func runDecoding(_ entry: StoredResponse, _ load: inout Load) async throws {
        guard let events = load.events else { return try await body.run(&load) }
        let held = HeldEvents(events)
        var stale = load.forked(events: nil)
        stale.advance(to: .original(entry.encodedImage), from: .disk)
        load.events = { held.take($0) }
        defer { load.events = events }
        async let decoded = decode(stale, events, held)
        let remaining: Chain?
        do {
            remaining = try await run(&load, confirming: entry)
        } catch {
            // A cancelled load waits for nothing; after any other failure the stale image is still wanted.
            if !(error is CancellationError) { load.adoptTrace(of: await decoded.load) }
            throw error
        }
        let (image, fork) = await decoded
        load.adoptTrace(of: fork)
        if let remaining { try await finish(&load, image, remaining) }
    }

    /// Makes the stale image and reports it, then the events that were held back.
    /// - Returns: The image, or `nil` if the bytes can't be decoded; and the load that made it.
    private func decode(
        _ stale: Load, _ events: @escaping @Sendable (LoadEvent) -> Void, _ held: HeldEvents
    ) async -> (image: LoadContent?, load: Load) {
        defer { held.open() }
        var stale = stale
        do {
            try await body.run(&stale)
        } catch {
            return (nil, stale)
        }
        guard let product = stale.content.product else { return (nil, stale) }
        events(.hasCache(product, source: .disk))
        return (stale.content, stale)
    }
}
