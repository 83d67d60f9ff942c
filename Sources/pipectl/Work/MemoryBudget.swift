import Pipeline

/// The memory that pictures under way may take together; who finds too little left waits, in the order of arrival.
final class MemoryBudget: Sendable {
    private struct Waiter {
        let id: Int
        let bytes: Int
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var free: Int
        var waiting: [Waiter] = []
        var cancelled: Set<Int> = []
        var nextID = 0

        /// Admits those at the front for whom there is room.
        mutating func admitted() -> [Waiter] {
            var admitted: [Waiter] = []
            while let first = waiting.first, first.bytes <= free {
                free -= first.bytes
                admitted.append(waiting.removeFirst())
            }
            return admitted
        }
    }

    private let total: Int
    private let state: Lock<State>

    /// Provides for `total` bytes.
    init(bytes total: Int) {
        self.total = max(1, total)
        state = Lock(State(free: max(1, total)))
    }

    /// Runs work once there is room for `bytes`; what needs more than there is in all runs alone.
    /// - Throws: what the work throws; `CancellationError` if the task is cancelled while it waits.
    func run<Value>(holding bytes: Int, _ work: () async throws -> Value) async throws -> Value {
        let bytes = min(max(0, bytes), total)
        try await acquire(bytes)
        defer { release(bytes) }
        return try await work()
    }

    private func acquire(_ bytes: Int) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let isAdmitted = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer = state.withLock { state -> Bool? in
                    if state.cancelled.remove(id) != nil { return false }
                    if state.waiting.isEmpty, bytes <= state.free {
                        state.free -= bytes
                        return true
                    }
                    state.waiting.append(Waiter(id: id, bytes: bytes, continuation: continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let (waiter, admitted) = state.withLock { state -> (Waiter?, [Waiter]) in
                guard let index = state.waiting.firstIndex(where: { $0.id == id }) else {
                    state.cancelled.insert(id)
                    return (nil, [])
                }
                let waiter = state.waiting.remove(at: index)
                return (waiter, state.admitted())
            }
            waiter?.continuation.resume(returning: false)
            for next in admitted { next.continuation.resume(returning: true) }
        }
        guard isAdmitted else { throw CancellationError() }
    }

    private func release(_ bytes: Int) {
        let admitted = state.withLock { state in
            state.free += bytes
            return state.admitted()
        }
        for next in admitted { next.continuation.resume(returning: true) }
    }
}
