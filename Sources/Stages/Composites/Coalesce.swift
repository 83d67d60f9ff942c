public import Pipeline

/// Runs its body once for all loads that want the same thing at the same time.
///
/// Each waiter gets the result, or the error, of the one flight. A cancelled waiter returns at once. When the last
/// waiter leaves, the flight is cancelled and winds down on its own; ``Flights/drain()`` waits for it. A failed flight
/// is forgotten, so the next load tries again.
///
/// Loads of lists that were built separately share a flight if the bodies have the same stages over the same objects, as
/// far as the stages say so: see `Stage.identity`.
public struct Coalesce: CompositeStage, KeyedStage {
    /// What loads must have in common to share a flight.
    public enum Sharing: Sendable, Hashable {
        /// Source, size, headers, expiry, tags and an equal body: the whole load is shared. Bodies are equal where they have
        /// the same stages over the same resources, whether or not they were built together; see ``Coalesce``.
        case variant
        /// Source and headers: the fetch is shared among all lists with the same ``Flights``. It can be joined until
        /// its first member's `Store` has run, and that member alone writes the original.
        case source
    }

    public var body: Chain { didSet { list = ListIdentity(body) } }
    private let flights: Flights
    private let sharing: Sharing
    private var list: ListIdentity

    package static func specification(_ resources: PipelineResources) -> StageSpecification {
        StageSpecification(
            composite: "coalesce", "Runs its stages once for all loads of the same image.",
            .required("by", .choice([Sharing.variant, .source]), "What the loads must have in common.")
        ) { Coalesce(resources.flights, by: $1, $0) }
    }

    /// Wraps the stages that are shared.
    public init(_ flights: Flights, by sharing: Sharing, @ChainBuilder _ body: () -> Chain) {
        self.flights = flights
        self.sharing = sharing
        self.body = body()
        list = ListIdentity(self.body)
    }

    public var parameters: String { "by: \(sharing)" }

    public var identity: StageIdentity? { StageIdentity("\(sharing)", over: [flights]) }

    /// Joins the flight for this load's key, or starts it.
    /// - Throws: The body's errors; `CancellationError` at once when the task is cancelled.
    public func run(_ load: inout Load) async throws -> Outcome {
        guard let waiter = join(load) else {
            try await body.run(&load)
            return .done
        }
        await flights.start(of: waiter)
        start(waiter, load)
        try adopt(try await flights.result(of: waiter), of: waiter, &load)
        return .done
    }

    // Never inlined into `run`, whose frame would hold their temporaries while the load waits.

    @inline(never)
    private func join(_ load: Load) -> WorkWaiter? { key(for: load).map { flights.join($0, load) } }

    @inline(never)
    private func start(_ waiter: WorkWaiter, _ load: Load) { flights.start(waiter, load, body) }

    @inline(never)
    private func adopt(_ result: WorkResult, of waiter: WorkWaiter, _ load: inout Load) throws {
        if waiter.joined { load.note(.joined) }
        load.adopt(result.load)
        if let error = result.error { throw error }
        // Made here, so that this load alone holds it. If the result held it longer, a load that starts again would join
        // the fetch that it has just left.
        if waiter.isFetch { load.attach(flights.writeRight(of: waiter, result)) }
    }

    private func key(for load: Load) -> WorkKey? {
        guard let source = load.sourceKey, let variant = load.variantKey else { return nil }
        return switch sharing {
        case .variant:
            // A response gets the tags of each load, from its own `Store`.
            .variant(
                variant, list: list, load.request.expiry, staleIfError: load.request.staleIfError,
                tags: load.request.tags)
        case .source: .source(source, headers: variant.headers)
        }
    }
}

/// What loads must have in common to share work.
enum WorkKey: Hashable, Sendable {
    case variant(VariantKey, list: ListIdentity, Expiry, staleIfError: Duration?, tags: Set<String>)
    case source(SourceKey, headers: SIMD2<UInt64>)

    var isFetch: Bool { if case .source = self { true } else { false } }

    var source: SourceKey {
        switch self {
        case .variant(let key, _, _, _, _): key.source
        case .source(let key, _): key
        }
    }
}
