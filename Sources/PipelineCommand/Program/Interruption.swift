import Dispatch
import LibC
import Pipeline

/// Turns the first SIGINT, SIGTERM or SIGHUP into cancellation, so that nothing half-written stays behind. A second one
/// ends the program immediately.
struct Interruption {
    private static let first = Lock<Int32>(0)

    private let sources: [any DispatchSourceSignal]

    /// The exit status after an interruption: 128 plus the signal's number, as in shells.
    static var status: Int32? {
        let signal = first.withLock { $0 }
        return signal == 0 ? nil : 128 + signal
    }

    /// Whether a signal has come. Code that waits in a system call without a `WorkCancellation` checks this, also under
    /// the lock of standard output.
    static var isRequested: Bool { first.withLock(isInner: true) { $0 } != 0 }

    /// Waits a moment for a signal, at the end of an input whose writer may have been ended by the same one, and seen
    /// to be gone first.
    static func waitShortly() {
        for _ in 0..<20 where !isRequested { poll(nil, 0, 10) }
    }

    /// Calls `cancel` on the first signal.
    init(_ cancel: @escaping @Sendable () -> Void) {
        let queue = DispatchQueue(label: "signals")
        sources = [SIGINT, SIGTERM, SIGHUP].filter { $0 != SIGHUP || !Self.isIgnored($0) }.map { number in
            // By default the system would end the program before a source is called.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                let isSecond = Self.first.withLock { first in
                    defer { first = number }
                    return first != 0
                }
                if isSecond { _exit(128 + number) }
                cancel()
            }
            source.resume()
            return source
        }
        // Without SIGPIPE, a reader that has gone away is an error to handle, not the end of the program.
        signal(SIGPIPE, SIG_IGN)
    }

    /// Ignores a signal, and returns whether the parent does, as nohup.
    private static func isIgnored(_ number: Int32) -> Bool {
        // A handler is a function's address, and SIG_IGN the address 1; both fit an Int.
        unsafeBitCast(signal(number, SIG_IGN), to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
