import Logging
import Pipeline

/// Passes events to observers, and logs each change of a state once.
final class FleetReports: Sendable {
    private struct State {
        var isLost = false
        var isFull = false
        var isDeaf = false
        /// The uptime at which it became deaf.
        var deafSince = Duration.zero
        /// When warnings were last logged, by what they are about.
        var loggedAt: [String: Duration] = [:]
        /// What was warned about, and isn't over as far as the log says.
        var open: Set<String> = []
    }

    private let server: String
    private let observers: [any FleetObserver]
    private let logger: Logger
    private let clock: any LoadClock
    private let state = Lock(State())

    init(_ address: RedisAddress, observers: [any FleetObserver], logger: Logger, clock: any LoadClock) {
        server = address.description
        self.observers = observers
        self.logger = logger
        self.clock = clock
    }

    /// Logs a warning, unless one about the same was logged within the last minute. A state that comes and goes would fill
    /// the log.
    private func warn(about subject: String, _ message: @autoclosure () -> String) {
        let now = clock.uptime
        let isDue = state.withLock { state in
            if let last = state.loggedAt[subject], now - last < .seconds(60) { return false }
            // A server has few reasons, but the texts are its own.
            if state.loggedAt.count >= 100 { state.loggedAt = [:] }
            state.loggedAt[subject] = now
            state.open.insert(subject)
            return true
        }
        if isDue { logger.warning("\(message())") }
    }

    /// Logs that something is over, if its last warning was logged.
    private func notice(end subject: String, _ message: @autoclosure () -> String) {
        if state.withLock({ $0.open.remove(subject) }) != nil { logger.notice("\(message())") }
    }

    /// Passes an event on.
    func report(_ event: FleetEvent) {
        HeldLocks.requireNone()
        for observer in observers { observer.observe(event) }
    }

    /// Notes what holds from now on; returns whether it didn't before.
    private func turn(_ flag: WritableKeyPath<State, Bool>, _ value: Bool) -> Bool {
        state.withLock { state in
            defer { state[keyPath: flag] = value }
            return state[keyPath: flag] != value
        }
    }

    /// Notes that the connection's state has changed.
    func change(_ change: RedisState) {
        switch change {
        case .lost(let failure):
            guard turn(\.isLost, true) else { return }
            report(.lost("\(failure)"))
            warn(
                about: "lost",
                "The shared cache \(server) can't be used: \(failure.sentence) Loads continue without it until it replies again."
            )
        case .restored:
            guard turn(\.isLost, false) else { return }
            report(.restored)
            notice(end: "lost", "The shared cache \(server) replies again.")
        case .refused(let text): refuse(text)
        case .replied(let time): report(.latency(time))
        }
    }

    /// Notes that the server has refused a request.
    private func refuse(_ text: String) {
        let failure = RedisFailure.refused(text)
        report(.refused("\(failure)"))
        // What isn't from the primary ends the connection, and a full server has a warning of its own.
        if failure.isFull || failure.isNotPrimary { return }
        warn(
            about: String(text.prefix { $0 != " " }),
            """
            The shared cache \(server) refuses requests: \(failure.sentence) What they are for isn't shared. \
            pipectl doctor --shared says what to change.
            """)
    }

    /// Notes whether this machine hears what others make invalid: `nil`, or why it doesn't.
    /// - Parameter servesUncertain: Whether stored images are served meanwhile without being confirmed.
    func hear(_ failure: RedisFailure?, servesUncertain: Bool = false) {
        let isNew = turn(\.isDeaf, failure != nil)
        if let failure {
            let now = clock.uptime
            guard isNew else { return report(.behind(now - state.withLock(\.deafSince))) }
            state.withLock { $0.deafSince = now }
            report(.deaf("\(failure)"))
            warn(
                about: "deaf",
                """
                This machine doesn't hear what others remove from the shared cache \(server): \(failure.sentence) Until it \
                does, \(servesUncertain ? "it may serve what was removed" : "stored images are confirmed before they are served").
                """)
        } else {
            report(.listening)
            notice(end: "deaf", "This machine hears again what others remove from the shared cache \(server).")
        }
    }

    /// Notes that the state of the store of large responses has changed.
    func change(_ change: BlobState, of bucket: S3Bucket) {
        switch change {
        case .lost(let failure):
            report(.blobsLost("\(failure)"))
            warn(
                about: "blobs",
                """
                The bucket \(bucket) can't be used: \(String(describing: failure).sentence) Large responses aren't shared until it responds again.
                """)
        case .restored:
            report(.blobsRestored)
            notice(end: "blobs", "The bucket \(bucket) responds again.")
        case .unreadable:
            let failure = BlobFailure.unreadable
            report(.blobsRefused("\(failure)"))
            warn(
                about: "unreadable blobs",
                """
                The bucket \(bucket) can't be read: \(String(describing: failure).sentence) Such responses are fetched \
                again. Allow these credentials s3:GetObject, and s3:ListBucket, without which missing objects are refused too.
                """)
        }
    }

    /// Notes whether the server has refused a write since it is full.
    func write(isFull: Bool) {
        guard turn(\.isFull, isFull) else { return }
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
