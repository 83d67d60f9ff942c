import CHiredis
import LibC
import Pipeline

/// The thread of one connection, started with the first request.
final class RedisThread: Sendable {
    private let thread: LoopThread<RedisRequest>
    private let paused: Lock<Bool>

    /// - Parameters:
    ///   - name: The thread's name; at most 15 bytes.
    ///   - body: Runs on the thread until ``takeRequests()`` returns `nil`. Gets the descriptor that wakes it.
    init(name: String, _ body: @escaping @Sendable (RedisThread, EventDescriptor) -> Void) {
        let paused = Lock(false)
        self.paused = paused
        thread = LoopThread(name: name) { thread in
            guard let wakeup = EventDescriptor() else { throw RedisFailure.unreachable("no descriptor is left") }
            thread.wakes { wakeup.signal() }
            body(RedisThread(thread, paused), wakeup)
            thread.wakes(by: nil)
        } drop: { requests, error in
            let failure: RedisFailure =
                switch error {
                case nil: .unreachable("the connection was closed")
                case let failure as RedisFailure: failure
                default: .unreachable("the system refuses another thread")
                }
            for request in requests { request.end(.failure(failure)) }
        }
    }

    private init(_ thread: LoopThread<RedisRequest>, _ paused: Lock<Bool>) {
        (self.thread, self.paused) = (thread, paused)
    }

    /// Whether requests are refused at once, since the breaker is open.
    var isPaused: Bool { paused.withLock { $0 } }

    /// Sets whether requests are refused at once.
    func pause(_ isPaused: Bool) { paused.withLock { $0 = isPaused } }

    /// Passes requests to the thread, which sends them together. If that can't run them, they fail.
    func post(_ requests: [RedisRequest]) {
        let refusal: RedisFailure? =
            isPaused ? .paused : thread.post(requests) ? nil : .unreachable("the connection was closed")
        if let refusal { for request in requests { request.end(.failure(refusal)) } }
    }

    /// Wakes the thread, if it runs.
    func wake() { thread.wake() }

    /// Starts the thread without a request, or wakes it.
    func begin() { thread.post([]) }

    /// Lets the thread end. Requests fail.
    func stop() { thread.stop() }

    /// Waits until the thread that was stopped has ended.
    func ended() async { await thread.ended() }

    /// Takes the requests that were posted; `nil` once the thread is to end.
    func takeRequests() -> [RedisRequest]? { thread.take() }
}
