import HTTPTypes
import Pipeline

/// The fetches in flight whose responses other requests may use once they are stored (RFC 9111 section 4).
///
/// No caller gets another's response from here: a waiter looks up the cache again, which judges whether the response
/// may be reused.
final class SharedFetches: Sendable {
    struct Key: Hashable {
        let source: SourceKey
        let headers: HTTPFields
    }

    /// A registered fetch, which others may wait for.
    struct Ticket {
        let key: Key
        let number: UInt64
        /// The right to fetch among all processes that share the cache; `nil` if it isn't available.
        var lease: SourceLease?
    }

    /// How a fetch ended, for its waiters.
    enum Outcome { case stored, notShared, cancelled }
    enum Entry { case leads(Ticket), waited(Outcome) }

    private struct State {
        var lastNumber: UInt64 = 0
        var fetches: [Key: (number: UInt64, waiting: [ObjectIdentifier: Waiter<Outcome>])] = [:]
    }

    private let state = Lock(State())

    /// Waits for a fetch in flight to end. Without one, registers the caller's fetch, which the caller has to
    /// ``end(_:_:)``.
    /// - Throws: `CancellationError` at once when the task is cancelled.
    func enter(_ key: Key) async throws -> Entry {
        let waiter = Waiter<Outcome>()
        let ticket = state.withLock { state -> Ticket? in
            if state.fetches[key] != nil {
                state.fetches[key]?.waiting[ObjectIdentifier(waiter)] = waiter
                return nil
            }
            state.lastNumber += 1
            state.fetches[key] = (state.lastNumber, [:])
            return Ticket(key: key, number: state.lastNumber)
        }
        if let ticket { return .leads(ticket) }
        return .waited(
            try await waiter.value {
                state.withLock { _ = $0.fetches[key]?.waiting.removeValue(forKey: ObjectIdentifier(waiter)) }
                waiter.resume(with: .failure(CancellationError()))
            })
    }

    /// Resumes the waiters of a fetch. A second call for it does nothing.
    func end(_ ticket: Ticket, _ outcome: Outcome) {
        let waiting = state.withLock { state -> [Waiter<Outcome>] in
            guard let fetch = state.fetches[ticket.key], fetch.number == ticket.number else { return [] }
            state.fetches[ticket.key] = nil
            return Array(fetch.waiting.values)
        }
        for waiter in waiting { waiter.resume(with: .success(outcome)) }
    }
}
