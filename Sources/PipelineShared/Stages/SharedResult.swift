import HTTPTypes
public import Pipeline
import PipelineHTTP
public import PipelineImages
public import Stages

/// Makes a result on one machine for all: looks for one that any machine has made of the same bytes, and runs its body
/// only if there is none.
///
/// ```swift
/// SharedResult(fleet) {
///     Decode()
///     Downscale()
///     Encode(.webp)
/// }
/// ```
///
/// Results are named after the bytes that they are made of, the source and the list. So they never outlive a change of
/// the image, and need no invalidation. A result of a response that a shared cache must not store isn't shared.
///
/// A shared result that the list can't have made is removed and made again: see `ExpectedResult`.
public struct SharedResult: CompositeStage {
    /// The stages that make the result, `Encode` the last.
    public var body: Chain
    private let fleet: Fleet
    private let expected: ExpectedResult
    private let patience: Duration

    package static func specification(
        _ fleet: @escaping @Sendable () throws -> Fleet, _ codecs: ImageCodecs
    ) -> StageSpecification {
        StageSpecification(
            composite: "sharedResult", "Makes a result once for all machines, in the tier of --shared.",
            example: "[decode, downscale, encode: webp]", .patience("machine")
        ) { SharedResult(try fleet(), expecting: .picture(codecs), patience: $1, $0) }
    }

    /// Wraps the stages that make a result.
    /// - Parameters:
    ///   - fleet: The fleet that has the results and the leases.
    ///   - expected: What the body makes: by default pictures in the formats of `ImageCodecs.standard`. Nothing else is
    ///     shared.
    ///   - patience: How long to wait for another machine that makes it; 30 s by default. Then the body runs without a
    ///     lease.
    ///   - body: The stages.
    public init(
        _ fleet: Fleet, expecting expected: ExpectedResult = .picture(.standard), patience: Duration = .seconds(30),
        @ChainBuilder _ body: () -> Chain
    ) {
        self.fleet = fleet
        self.expected = expected
        self.patience = patience
        self.body = body()
    }

    /// Bytes of a source.
    public var accepts: Phases { .original }

    /// What the body makes, or a result that another machine has made.
    public var produces: Phases { body.outcomes(from: .original).union(.encoded) }

    /// The stage uses the load's keys.
    public var needsIdentity: Bool { true }

    /// What is expected, and where it is kept.
    public var identity: StageIdentity? { expected.identity("\(patience)", over: [fleet]) }

    /// Looks for the result, and runs the body if no machine has made it or makes it now.
    /// - Throws: The body's errors; `CancellationError` at once when the task is cancelled.
    public func run(_ load: inout Load) async throws -> Outcome {
        guard case .original(let file) = load.content, let key = load.variantKey, isShareable(load) else {
            try await body.run(&load)
            return .done
        }
        let name = "\(VariantKey.version).\(BLAKE2bDigest(of: key.digest.bytes + BLAKE2bDigest(of: file.bytes).bytes))"
        var image = try await fleet.store.result(name, expected)
        if image == nil {
            let turn = try await fleet.leases.turn("v" + name, patience: patience) {
                image = try await fleet.store.result(name, expected)
                return image != nil
            }
            switch turn {
            case .found: break
            case .alone:
                try await body.run(&load)
                return .done
            case .hold(let hold):
                try await make(name, &load, hold)
                return .done
            }
        }
        guard let image else { return .skipped }
        load.note(key: .variant(key))
        load.advance(to: .encoded(image))
        return .hit
    }

    private func make(_ name: String, _ load: inout Load, _ hold: any LeaseHold) async throws {
        do {
            try await body.run(&load)
        } catch {
            await hold.end(isStored: false)
            throw error
        }
        guard case .encoded(let image) = load.content, expected.includes(image) else {
            return await hold.end(isStored: false)
        }
        guard let token = (hold as? FleetHold)?.token else { return await hold.end(isStored: false) }
        await hold.end(isStored: await fleet.store.commit(image, named: name, under: token))
    }

    /// Whether a shared cache may store the response behind the load.
    private func isShareable(_ load: Load) -> Bool {
        guard load.request.source.isRemote, let source = load.sourceKey else { return false }
        let exchange: HTTPExchange? =
            switch load.response {
            case .fetched(let exchange): exchange
            case .confirmed(let stored, let update): HTTPExchange(of: stored, for: update.requestHeaders)
            case .fresh(let stored, _), .stale(let stored, _): HTTPExchange(of: stored, for: load.request.headers)
            case .unknown: nil
            }
        guard let exchange else { return false }
        return fleet.cache.policy.draft(exchange, source, now: load.clock.now, load.request.expiry, .http) != nil
    }
}

extension RedisStore {
    /// Finds a result that any machine has made; `nil` if there is none, or Redis failed. One that isn't expected is
    /// removed.
    /// - Throws: `CancellationError` if the task is cancelled; nothing else.
    func result(_ name: String, _ expected: ExpectedResult) async throws -> EncodedImage? {
        let key = keys.result(named: name)
        let reply = try await reading { try await scripts.connection.send("GET", key) }
        guard let image = try await image(reply?.bytes) else { return nil }
        if expected.includes(image) { return image }
        _ = try await reading { try await scripts.connection.send("UNLINK", key) }
        return nil
    }

    /// Stores a result under a lease, and ends the lease.
    /// - Returns: Whether it is stored.
    func commit(_ image: EncodedImage, named name: String, under token: FleetLeaseToken) async -> Bool {
        let isStored = await writing { () -> Bool? in
            guard let value = try await value(PackedImage.pack(image)) else { return nil }
            return try await scripts.run(
                .commitResult, keys: [keys.result(named: name), keys.lease(token.name)],
                [
                    token.value, Self.digits(limits.longestTime.nanoseconds / 1_000_000),
                    Array(keys.outcomes(token.name).utf8), value,
                ]
            ).integer == 1
        }
        guard let isStored = isStored ?? nil else { return false }
        reports.report(isStored ? .stored(bytes: image.bytes.count) : .commitRefused)
        return isStored
    }
}
