import Glibc
import Stages

/// Turns the first SIGINT or SIGTERM into cancellation, so that nothing half-written stays behind; a second one ends
/// the program at once.
struct Interruption {
    private let signals: sigset_t

    /// Has to be made before any thread starts: threads inherit what is blocked here.
    init() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        sigaddset(&signals, SIGTERM)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        signal(SIGPIPE, SIG_IGN)
        self.signals = signals
    }

    /// Calls `cancel` on the first signal.
    func onSignal(_ cancel: @escaping @Sendable () -> Void) {
        let signals = signals
        Thread.start(name: "signals") {
            var signals = signals
            var received: Int32 = 0
            sigwait(&signals, &received)
            cancel()
            sigwait(&signals, &received)
            _exit(130)
        }
    }
}
