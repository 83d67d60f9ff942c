import CHiredis
import Glibc
import Pipeline

/// The thread of one connection, started with the first request, and the mailbox through which others reach it.
final class RedisThread: Sendable {
    private struct Mailbox {
        var requests: [RedisRequest] = []
        /// Wakes the loop out of `poll`; `nil` while no thread runs.
        var wakeup: Int32?
        var isStarted = false
        var isStopped = false
        /// Whether the breaker is open.
        var isPaused = false

        func wake() {
            if let wakeup { eventfd_write(wakeup, 1) }
        }
    }

    private let name: String
    private let body: @Sendable (RedisThread, Int32) -> Void
    private let mailbox = Lock(Mailbox())

    /// - Parameters:
    ///   - name: The thread's name; at most 15 bytes.
    ///   - body: Runs on the thread until ``takeRequests()`` returns `nil`. Gets the descriptor that wakes it.
    init(name: String, _ body: @escaping @Sendable (RedisThread, Int32) -> Void) {
        self.name = name
        self.body = body
    }

    /// Whether requests are refused at once.
    var isPaused: Bool { mailbox.withLock { $0.isPaused } }

    /// Sets whether requests are refused at once.
    func pause(_ isPaused: Bool) { mailbox.withLock { $0.isPaused = isPaused } }

    /// Passes a request to the thread. If that can't run it, the request fails.
    func post(_ request: RedisRequest) {
        let (refusal, starts) = mailbox.withLock { mailbox -> (RedisFailure?, Bool) in
            guard !mailbox.isStopped else { return (.unreachable("the connection was closed"), false) }
            guard !mailbox.isPaused else { return (.paused, false) }
            mailbox.requests.append(request)
            if mailbox.requests.count == 1 { mailbox.wake() }
            defer { mailbox.isStarted = true }
            return (nil, !mailbox.isStarted)
        }
        if let refusal { request.end(.failure(refusal)) }
        if starts { start() }
    }

    /// Wakes the thread, if it runs.
    func wake() { mailbox.withLock { $0.wake() } }

    /// Starts the thread without a request, or wakes it.
    func begin() {
        let starts = mailbox.withLock { mailbox in
            mailbox.wake()
            defer { mailbox.isStarted = true }
            return !mailbox.isStarted && !mailbox.isStopped
        }
        if starts { start() }
    }

    /// Lets the thread end. Requests fail.
    func stop() {
        mailbox.withLock { mailbox in
            mailbox.isStopped = true
            mailbox.wake()
        }
    }

    /// Takes the requests that were posted; `nil` once the thread is to end.
    func takeRequests() -> [RedisRequest]? {
        mailbox.withLock { mailbox in
            guard !mailbox.isStopped else { return nil }
            defer { mailbox.requests = [] }
            return mailbox.requests
        }
    }

    private func start() {
        do {
            try Thread.start(name: name) { [self] in main() }
        } catch {
            end("the system refuses another thread")
        }
    }

    private func main() {
        // A connection that breaks while hiredis writes to it must not end the program.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        let wakeup = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        guard wakeup >= 0 else { return end("no descriptor is left") }
        mailbox.withLock { $0.wakeup = wakeup }
        body(self, wakeup)
        mailbox.withLock { $0.wakeup = nil }
        close(wakeup)
        end("the connection was closed")
    }

    /// Fails the requests that are left. A later request starts the thread again, unless it was stopped.
    private func end(_ reason: String) {
        let left = mailbox.withLock { mailbox in
            defer { mailbox.requests = [] }
            mailbox.isStarted = false
            return mailbox.requests
        }
        for request in left { request.end(.failure(RedisFailure.unreachable(reason))) }
    }
}
