import HTTPTypes
import Pipeline

/// The fetches under way whose answers others may use once they are stored (RFC 9111 section 4).
///
/// Nobody gets another's answer from here: who has waited looks into the cache again, which judges whether it may be
/// reused.
final class SharedFetches: Sendable {
    struct Key: Hashable {
        let source: SourceKey
        let headers: HTTPFields
    }

    /// A fetch that others may wait for.
    struct Ticket {
        let key: Key
        let number: UInt64
        /// The right to fetch among all processes that share the cache; `nil` where it can't be had.
        var lease: SourceLease?
    }

    /// How a fetch ended for those who waited.
    enum Outcome { case stored, notShared, cancelled }
    enum Boarding { case leads(Ticket), waited(Outcome) }

    private struct State {
        var lastNumber: UInt64 = 0
        var fetches: [Key: (number: UInt64, waiting: [UInt64: CheckedContinuation<Outcome, any Error>])] = [:]

        mutating func number() -> UInt64 {
            lastNumber += 1
            return lastNumber
        }
    }

    private let state = Lock(State())

    /// Waits for a fetch under way to end; without one, registers the caller's, which it has to ``end(_:_:)``.
    /// - Throws: `CancellationError` at once when the task is cancelled.
    func board(_ key: Key) async throws -> Boarding {
        let (number, leads) = state.withLock { state in
            let number = state.number()
            guard state.fetches[key] == nil else { return (number, false) }
            state.fetches[key] = (number, [:])
            return (number, true)
        }
        return leads ? .leads(Ticket(key: key, number: number)) : .waited(try await wait(key, number))
    }

    private func wait(_ key: Key, _ waiter: UInt64) async throws -> Outcome {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isOver = state.withLock { state in
                    guard !Task.isCancelled, state.fetches[key] != nil else { return true }
                    state.fetches[key]?.waiting[waiter] = continuation
                    return false
                }
                guard isOver else { return }
                if Task.isCancelled {
                    continuation.resume(throwing: CancellationError())
                } else {
                    continuation.resume(returning: .cancelled)
                }
            }
        } onCancel: {
            let continuation = state.withLock { $0.fetches[key]?.waiting.removeValue(forKey: waiter) }
            continuation?.resume(throwing: CancellationError())
        }
    }

    /// Lets go who waits for a fetch. A second call for it does nothing.
    func end(_ ticket: Ticket, _ outcome: Outcome) {
        let waiting = state.withLock { state -> [CheckedContinuation<Outcome, any Error>] in
            guard let fetch = state.fetches[ticket.key], fetch.number == ticket.number else { return [] }
            state.fetches[ticket.key] = nil
            return Array(fetch.waiting.values)
        }
        for continuation in waiting { continuation.resume(returning: outcome) }
    }
}
