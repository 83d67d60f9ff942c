import Dispatch
import Glibc

/// Turns the first SIGINT or SIGTERM into cancellation, so that nothing half-written stays behind; a second one ends
/// the program at once.
struct Interruption {
    private let sources: [any DispatchSourceSignal]

    /// Calls `cancel` on the first signal.
    init(_ cancel: @escaping @Sendable () -> Void) {
        let queue = DispatchQueue(label: "signals")
        sources = [SIGINT, SIGTERM].map { number in
            // The system's own answer, to end the program, comes before a source is asked.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            var isSecond = false
            source.setEventHandler {
                if isSecond { _exit(130) }
                isSecond = true
                cancel()
            }
            source.resume()
            return source
        }
        // A reader that has gone away is an error to handle, not the end.
        signal(SIGPIPE, SIG_IGN)
    }
}
