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
    private let joined = Lock<Joined>([])

    init(
        _ request: ImageRequest, _ observers: [any LoadObserver], credentials: CredentialFields, isPrefetch: Bool,
        events: (@Sendable (LoadEvent) -> Void)?
    ) {
        number = Self.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
        self.observers = observers
        self.request = request
        self.credentials = credentials
        self.isPrefetch = isPrefetch
        self.events = events
    }

    // Computed when an observer asks: together they take longer than a memory hit, and metrics need neither.

    var key: SourceKey? { request.hasLongInlineSource ? nil : SourceKey(request, credentials: credentials) }
    var subject: String { request.source.redacted }

    /// Runs the load, and reports its beginning and its end.
    func run(_ load: () async throws -> LoadResponse) async throws -> LoadResponse {
        tell(.started)
        do {
            let response = try await load()
            tell(.delivered(response))
            return response
        } catch is CancellationError {
            tell(.cancelled)
            throw CancellationError()
        } catch {
            tell(.failed(error), at: (error as? LoadError)?.stage)
            throw error
        }
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
        case .joined where joined.isEmpty: tell(.alreadyLoading, at: "Coalesce")
        case .hasCache(_, let source) where joined.isEmpty:
            tell(.cacheHit(source), at: source == .memory ? "MemoryLookup" : "DiskLookup")
        case .sendingRequest where joined.isEmpty: tell(.downloadStarted, at: "Fetch")
        // Any of the loads that share a fetch may be the one that writes the response.
        case .stored(let place) where !joined.contains(.load): tell(.stored(place), at: "Store")
        default: break
        }
        events?(event)
    }

    private func tell(_ event: LoadObservation.Event, at stage: String? = nil) {
        let observation = LoadObservation(
            load: number, event: event, stage: stage, isPrefetch: isPrefetch, observed: self)
        CurrentFlight.callOut {
            for observer in observers { observer.observe(observation) }
        }
    }
}
