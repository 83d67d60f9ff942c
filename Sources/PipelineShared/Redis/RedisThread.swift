import CHiredis
import Glibc
import Pipeline

/// The thread of one connection, started with the first request, and the mailbox through which others reach it.
final class RedisThread: Sendable {
    private struct Mailbox {
        var requests: [RedisRequest] = []
        /// Wakes the loop out of `poll`; `nil` while no thread runs.
        var wakeup: EventDescriptor?
        /// Whether the loop is in `poll`, or will be without looking for requests again.
        var isWaiting = false
        var isStarted = false
        var isStopped = false
        /// Whether the breaker is open.
        var isPaused = false
    }

    private let name: String
    private let body: @Sendable (RedisThread, EventDescriptor) -> Void
    private let mailbox = Lock(Mailbox())

    /// - Parameters:
    ///   - name: The thread's name; at most 15 bytes.
    ///   - body: Runs on the thread until ``takeRequests()`` returns `nil`. Gets the descriptor that wakes it.
    init(name: String, _ body: @escaping @Sendable (RedisThread, EventDescriptor) -> Void) {
        self.name = name
        self.body = body
    }

    /// Whether requests are refused at once.
    var isPaused: Bool { mailbox.withLock { $0.isPaused } }

    /// Sets whether requests are refused at once.
    func pause(_ isPaused: Bool) { mailbox.withLock { $0.isPaused = isPaused } }

    /// Passes requests to the thread, which sends them together. If that can't run them, they fail.
    func post(_ requests: [RedisRequest]) {
        // Woken outside the lock, which the thread takes as soon as it runs.
        let (refusal, starts, wakeup) = mailbox.withLock { mailbox -> (RedisFailure?, Bool, EventDescriptor?) in
            guard !mailbox.isStopped else { return (.unreachable("the connection was closed"), false, nil) }
            guard !mailbox.isPaused else { return (.paused, false, nil) }
            mailbox.requests += requests
            defer { (mailbox.isStarted, mailbox.isWaiting) = (true, false) }
            return (nil, !mailbox.isStarted, mailbox.isWaiting ? mailbox.wakeup : nil)
        }
        wakeup?.signal()
        if let refusal { for request in requests { request.end(.failure(refusal)) } }
        if starts { start() }
    }

    /// Wakes the thread, if it runs.
    func wake() { mailbox.withLock { $0.wakeup }?.signal() }

    /// Starts the thread without a request, or wakes it.
    func begin() {
        let (starts, wakeup) = mailbox.withLock { mailbox in
            defer { mailbox.isStarted = true }
            return (!mailbox.isStarted && !mailbox.isStopped, mailbox.wakeup)
        }
        wakeup?.signal()
        if starts { start() }
    }

    /// Lets the thread end. Requests fail.
    func stop() {
        mailbox.withLock { mailbox in
            mailbox.isStopped = true
            return mailbox.wakeup
        }?.signal()
    }

    /// Whether the loop may wait; `false` if there are requests. From then on, a request wakes it.
    func mayWait() -> Bool {
        mailbox.withLock { mailbox in
            mailbox.isWaiting = mailbox.requests.isEmpty
            return mailbox.isWaiting
        }
    }

    /// Takes the requests that were posted; `nil` once the thread is to end.
    func takeRequests() -> [RedisRequest]? {
        mailbox.withLock { mailbox in
            guard !mailbox.isStopped else { return nil }
            defer { (mailbox.requests, mailbox.isWaiting) = ([], false) }
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
        guard let wakeup = EventDescriptor() else { return end("no descriptor is left") }
        mailbox.withLock { $0.wakeup = wakeup }
        body(self, wakeup)
        mailbox.withLock { $0.wakeup = nil }
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

/// A descriptor that other threads make readable.
final class EventDescriptor: Sendable {
    /// To poll for.
    let number: Int32

    /// Returns `nil` if the process has no descriptor left.
    init?() {
        number = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        if number < 0 { return nil }
    }

    deinit { close(number) }

    /// Makes it readable.
    func signal() { eventfd_write(number, 1) }

    /// Makes it unreadable again.
    func clear() {
        var count: eventfd_t = 0
        eventfd_read(number, &count)
    }
}
