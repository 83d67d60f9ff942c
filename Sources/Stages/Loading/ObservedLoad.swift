import Pipeline
import Synchronization

/// Reports the events of one load to a loader's observers.
final class ObservedLoad: Sendable {
    private static let lastNumber = Atomic<UInt64>(0)

    /// The parts of the load that another load runs.
    private struct Joined: OptionSet {
        let rawValue: Int
        static let load = Joined(rawValue: 1)
        static let fetch = Joined(rawValue: 2)
    }

    private let number: UInt64
    private let observers: [any LoadObserver]
    private let request: ImageRequest
    private let credentials: CredentialFields
    private let isPrefetch: Bool
    private let events: (@Sendable (LoadEvent) -> Void)?
    private let flights: Flights
    private let prefetched: PrefetchedImages
    private let joined = Lock<Joined>([])
    private let received = Atomic<Int>(0)

    init(
        _ request: ImageRequest, _ loader: ImageLoader, isPrefetch: Bool, events: (@Sendable (LoadEvent) -> Void)?
    ) {
        number = Self.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
        observers = loader.observers
        credentials = loader.resources.credentials
        flights = loader.resources.flights
        prefetched = loader.prefetched
        self.request = request
        self.isPrefetch = isPrefetch
        self.events = events
    }

    // Computed when an observer asks: together they take longer than a memory hit, and metrics need neither.

    var key: SourceKey? { request.hasLongInlineSource ? nil : SourceKey(request, credentials: credentials) }
    var subject: String { request.source.redacted }
    var maxPixelSize: PixelSize? { request.maxPixelSize }

    /// Runs the load, and reports its beginning and its end.
    func run(_ load: () async throws -> LoadResponse) async throws -> LoadResponse {
        tell(.started)
        if isPrefetch, let key { prefetched.begin(key, maxPixelSize) }
        do {
            let response = try await load()
            tell(.delivered(response), use: prefetchUse(response))
            return response
        } catch {
            if isPrefetch, let key { prefetched.drop(key) }
            guard !(error is CancellationError) else {
                tell(.cancelled, wasted: wastedBytes)
                throw error
            }
            tell(.failed(error), at: (error as? LoadError)?.stage)
            throw error
        }
    }

    /// What became of the image's prefetch; `nil` for a prefetch itself.
    private func prefetchUse(_ response: LoadResponse) -> PrefetchUse? {
        guard let key = response.sourceKey else { return nil }
        guard isPrefetch else { return prefetched.take(key, maxPixelSize, from: response.source) }
        // What was in memory before isn't the prefetch's work.
        if response.source == .memory {
            prefetched.drop(key)
        } else if response.image == nil {
            prefetched.keepBytes(key)
        }
        return nil
    }

    /// The bytes of a body that this load received as the last one that waited for it.
    private var wastedBytes: Int {
        let count = received.load(ordering: .relaxed)
        guard count > 0, let key, !flights.isUnderWay(key) else { return 0 }
        return count
    }

    /// Reports an event of the load, and passes it on.
    func take(_ event: LoadEvent) {
        let joined = joined.withLock { joined in
            defer {
                if case .joined(let fetchOnly) = event { joined.insert(fetchOnly ? .fetch : .load) }
            }
            return joined
        }
        switch event {
        case .joined where joined.isEmpty: tell(.alreadyLoading)
        case .hasCache(_, let source) where joined.isEmpty: tell(.cacheHit(source))
        case .sendingRequest where joined.isEmpty: tell(.downloadStarted)
        case .progress(let count, _): received.store(count, ordering: .relaxed)
        // Any of the loads that share a fetch may be the one that writes the response.
        case .stored(let place) where !joined.contains(.load): tell(.stored(place))
        default: break
        }
        events?(event)
    }

    private func tell(
        _ event: LoadObservation.Event, at stage: String? = nil, use: PrefetchUse? = nil, wasted: Int = 0
    ) {
        let observation = LoadObservation(
            load: number, event: event, stage: stage, isPrefetch: isPrefetch, prefetchUse: use, wastedBytes: wasted,
            observed: self)
        CurrentFlight.callOut {
            for observer in observers { observer.observe(observation) }
        }
    }
}
