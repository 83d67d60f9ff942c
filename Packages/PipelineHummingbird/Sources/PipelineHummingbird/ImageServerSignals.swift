public import Logging
public import PipelineServer
public import ServiceLifecycle
import UnixSignals

/// Acts on the signals that operators send.
///
/// - SIGTERM: the server reports that it isn't ready, and accepts requests until the balancer has noticed. Then it accepts
///   no new connections, and ends when its requests have ended. A second one skips the wait.
/// - SIGINT: the same without the wait.
/// - SIGHUP: the keys are read again.
///
/// Put it into the service group of the server, and give that group no signals of its own.
public struct ImageServerSignals: Service {
    private let responder: ImageResponder
    private let drainTime: Duration
    private let reload: @Sendable () throws -> Void
    private let stop: @Sendable () async -> Void
    private let logger: Logger

    /// Makes the service.
    /// - Parameters:
    ///   - responder: What answers; it is told that the server drains.
    ///   - drainTime: How long requests are accepted after SIGTERM; 5 seconds by default.
    ///   - logger: Gets a line for each time that keys are read.
    ///   - reload: Reads the keys on SIGHUP, and gives them to the responder. When it throws, those from before stay.
    ///   - stop: Begins the shutdown, as `ServiceGroup.triggerGracefulShutdown()`.
    public init(
        _ responder: ImageResponder, drainTime: Duration = .seconds(5), logger: Logger,
        reload: @escaping @Sendable () throws -> Void, stop: @escaping @Sendable () async -> Void
    ) {
        (self.responder, self.drainTime, self.logger) = (responder, drainTime, logger)
        (self.reload, self.stop) = (reload, stop)
    }

    /// Waits for signals until the group shuts down.
    public func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup)
        await withTaskGroup { group in
            for await signal in signals.cancelOnGracefulShutdown() {
                switch signal {
                case .sighup:
                    do {
                        try reload()
                        logger.notice("The keys were read again.")
                    } catch { logger.error("No keys were read, and those from before stay: \(error)") }
                case .sigterm where !responder.isDraining:
                    responder.drain()
                    group.addTask {
                        try? await Task.sleep(for: drainTime)
                        await stop()
                    }
                default:
                    responder.drain()
                    group.addTask { await stop() }
                }
            }
            group.cancelAll()
        }
    }
}
