import Logging
import Pipeline

/// Passes events to observers, and logs each change of a state once.
final class FleetReports: Sendable {
    private struct State {
        var isLost = false
        var isFull = false
    }

    private let server: String
    private let observers: [any FleetObserver]
    private let logger: Logger
    private let state = Lock(State())

    init(_ address: RedisAddress, observers: [any FleetObserver], logger: Logger) {
        server = address.description
        self.observers = observers
        self.logger = logger
    }

    /// Passes an event on.
    func report(_ event: FleetEvent) {
        HeldLocks.requireNone()
        for observer in observers { observer.observe(event) }
    }

    /// Notes that the connection's state has changed.
    func change(_ change: RedisState) {
        let isLost = if case .lost = change { true } else { false }
        let isNew = state.withLock { state in
            defer { state.isLost = isLost }
            return state.isLost != isLost
        }
        guard isNew else { return }
        switch change {
        case .lost(let failure):
            report(.lost("\(failure)"))
            logger.warning(
                "The shared cache \(server) can't be used: \(failure). Loads continue without it until it replies again."
            )
        case .restored:
            report(.restored)
            logger.notice("The shared cache \(server) replies again.")
        }
    }

    /// Notes that the state of the store of large responses has changed.
    func change(_ change: BlobState, of bucket: S3Bucket) {
        switch change {
        case .lost(let failure):
            report(.blobsLost("\(failure)"))
            logger.warning(
                """
                The bucket \(bucket) can't be used: \(failure). Large responses aren't shared until it responds again.
                """)
        case .restored:
            report(.blobsRestored)
            logger.notice("The bucket \(bucket) responds again.")
        }
    }

    /// Notes whether the server has refused a write since it is full.
    func write(isFull: Bool) {
        let isNew = state.withLock { state in
            defer { state.isFull = isFull }
            return state.isFull != isFull
        }
        guard isNew else { return }
        report(isFull ? .full : .hasRoom)
        if isFull {
            logger.warning(
                """
                The shared cache \(server) has no memory left, so nothing new is stored. Raise its maxmemory, or set \
                maxmemory-policy to volatile-lru.
                """)
        } else {
            logger.notice("The shared cache \(server) stores responses again.")
        }
    }
}
