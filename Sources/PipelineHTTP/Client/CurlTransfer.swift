import Essentials
import Pipeline

/// One exchange of a request and a response, between the task that reads it and libcurl's thread.
///
/// The thread adds what has arrived and then calls ``flush()`` once. Only that resumes the reader, so a small response
/// costs one resumption.
final class CurlTransfer: Sendable {
    /// How many bytes may be unread before a transfer that can wait is paused, besides the kernel's buffers.
    static let maximumUnread = 256 << 10

    enum Taking { case taken, later, unwanted }
    private typealias Head = Result<CurlHead, any Error>

    let request: TransferRequest
    let target: CurlURL
    /// When the request has to be over; `nil` if it starts with this exchange.
    let deadline: Duration?

    private struct State {
        var head: CurlHead?
        var unread: [UInt8] = []
        var isPaused = false
        var end: Result<Void, any Error>?
        var isCancelled = false
        var bodyWaiter: CheckedContinuation<[UInt8]?, any Error>?
    }

    private let thread: CurlThread
    private let state = Lock(State())
    private let headWaiter = Waiter<CurlHead>()

    init(_ request: TransferRequest, target: CurlURL, deadline: Duration?, thread: CurlThread) {
        self.request = request
        self.target = target
        self.deadline = deadline
        self.thread = thread
    }

    // MARK: The reader's side

    /// Starts the exchange and waits for the response's head.
    func start() async throws -> CurlHead {
        try await headWaiter.wait(priority: request.priority) { priority in
            if !thread.post(.start(self)) {
                end(.failure(CurlFailure.shutDown(self)))
                flush()
            } else if priority != request.priority {
                // It changed after the request was made.
                _ = thread.post(.prioritize(self, priority))
            }
        } move: { priority in
            _ = self.thread.post(.prioritize(self, priority))
        } leave: {
            cancel()
        }
    }

    /// Returns the bytes that have arrived since the last call, at least one; `nil` at the end.
    func next() async throws -> [UInt8]? {
        if Task.isCancelled { cancel() }
        if let ready = take() { return try ready.get() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if let ready = take(orWait: continuation) { continuation.resume(with: ready) }
            }
        } onCancel: {
            cancel()
        }
    }

    /// Cancels the exchange, unless it is over. Pending waits throw `CancellationError` at once.
    func cancel() {
        let (body, isRunning) = state.withLock { state in
            let isRunning = state.end == nil && !state.isCancelled
            state.isCancelled = true
            state.unread = []
            defer { state.bodyWaiter = nil }
            return (state.bodyWaiter, isRunning)
        }
        body?.resume(throwing: CancellationError())
        guard isRunning else { return }
        headWaiter.resume(with: .failure(CancellationError()))
        _ = thread.post(.cancel(self))
    }

    /// Returns what the reader gets now; `nil` if nothing has arrived yet, and `waiter`, if there is one, waits then.
    private func take(orWait waiter: CheckedContinuation<[UInt8]?, any Error>? = nil) -> Result<[UInt8]?, any Error>? {
        let (ready, resumes) = state.withLock { state -> (Result<[UInt8]?, any Error>?, Bool) in
            if state.isCancelled { return (.failure(CancellationError()), false) }
            if !state.unread.isEmpty {
                let resumes = state.isPaused
                state.isPaused = false
                var chunk: [UInt8] = []
                swap(&chunk, &state.unread)
                return (.success(chunk), resumes)
            }
            if let end = state.end { return (end.map { nil }, false) }
            guard let waiter else { return (nil, false) }
            if state.bodyWaiter != nil {
                let error = LoadError(
                    .stageContract, subject: redactedURL(request.url.absoluteString),
                    "Two tasks read one body at the same time; let one read it and share what it got.")
                return (.failure(error), false)
            }
            state.bodyWaiter = waiter
            return (nil, false)
        }
        if resumes { _ = thread.post(.resume(self)) }
        return ready
    }

    // MARK: libcurl's side

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    var isPaused: Bool { state.withLock { $0.isPaused } }

    func put(_ head: CurlHead) { state.withLock { $0.head = head } }

    /// Reserves memory for a body of a declared length, up to the most that is held here.
    func expect(_ count: Int) { state.withLock { $0.unread.reserveCapacity(min(count, Self.maximumUnread)) } }

    /// Adds bytes, unless the reader has enough to read and the transfer can wait.
    func put(_ bytes: UnsafeBufferPointer<UInt8>, canWait: Bool) -> Taking {
        state.withLock { state in
            if state.isCancelled { return .unwanted }
            if canWait && !state.unread.isEmpty && state.unread.count + bytes.count > Self.maximumUnread {
                state.isPaused = true
                return .later
            }
            state.unread.append(contentsOf: bytes)
            return .taken
        }
    }

    func end(_ result: Result<Void, any Error>) {
        state.withLock { state in if state.end == nil { state.end = result } }
    }

    /// Resumes the reader if there is something for it.
    func flush() {
        let head = state.withLock { state -> Head? in
            defer { state.head = nil }
            return state.head.map(Head.success) ?? state.end?.failure.map(Head.failure)
        }
        if let head { headWaiter.resume(with: head) }
        let reader = state.withLock { state -> CheckedContinuation<[UInt8]?, any Error>? in
            guard !state.unread.isEmpty || state.end != nil else { return nil }
            defer { state.bodyWaiter = nil }
            return state.bodyWaiter
        }
        if let reader { reader.resume(with: take() ?? .success(nil)) }
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
