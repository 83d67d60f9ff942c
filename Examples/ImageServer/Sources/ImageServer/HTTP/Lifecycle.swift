import Hummingbird
import Logging
import ServiceLifecycle
import Synchronization
import UnixSignals

/// Whether the server is about to stop.
final class Lifecycle: Sendable {
    private let draining = Atomic<Bool>(false)

    /// From the first signal to stop on: it isn't ready any more, and each response ends its connection.
    var isDraining: Bool { draining.load(ordering: .relaxed) }

    func drain() { draining.store(true, ordering: .relaxed) }
}

/// Acts on the signals that operators send.
///
/// - SIGTERM: the server reports that it isn't ready, and accepts requests until the balancer has noticed. Then it accepts
///   no new connections, and ends when its requests have ended. A second one skips the wait.
/// - SIGINT: the same without the wait.
/// - SIGHUP: the keys are read again.
struct SignalService: Service {
    let lifecycle: Lifecycle
    /// How long requests are accepted after SIGTERM.
    let drainTime: Duration
    let reload: @Sendable () throws -> Void
    let stop: @Sendable () async -> Void
    let logger: Logger

    func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup)
        await withTaskGroup { group in
            for await signal in signals.cancelOnGracefulShutdown() {
                switch signal {
                case .sighup:
                    do {
                        try reload()
                        logger.notice("The keys were read again.")
                    } catch { logger.error("No keys were read, and those from before stay: \(error)") }
                case .sigterm where !lifecycle.isDraining:
                    lifecycle.drain()
                    group.addTask {
                        try? await Task.sleep(for: drainTime)
                        await stop()
                    }
                default:
                    lifecycle.drain()
                    group.addTask { await stop() }
                }
            }
            group.cancelAll()
        }
    }
}
