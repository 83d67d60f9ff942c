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
        /// The priority of the fetch: the highest of its own request and its waiters.
        let priority: AdjustablePriority
        /// The lease of the fetch among all that share the cache; `nil` without one.
        var hold: (any LeaseHold)?
    }

    /// How a fetch ended, for its waiters.
    enum Outcome { case stored, notShared, cancelled }
    enum Entry { case leads(Ticket), waited(Outcome) }

    private struct Fetch {
        let number: UInt64
        let priority: AdjustablePriority
        var waiting: [ObjectIdentifier: Waiter<Outcome>] = [:]
        /// The priorities of the fetch's own request, under the identity of ``priority``, and of each waiter.
        var priorities: [ObjectIdentifier: LoadPriority] = [:]
    }

    private struct State {
        var lastNumber: UInt64 = 0
        var fetches: [Key: Fetch] = [:]
    }

    private let state = Lock(State())

    /// Waits for a fetch in flight to end. Without one, registers the caller's fetch, which the caller has to
    /// ``end(_:_:)``.
    /// - Throws: `CancellationError` at once when the task is cancelled.
    func enter(_ key: Key, priority: LoadPriority) async throws -> Entry {
        let waiter = Waiter<Outcome>()
        let wish = AdjustablePriority.current?.value ?? priority
        let ticket = state.withLock { state -> Ticket? in
            if state.fetches[key] != nil {
                state.fetches[key]?.waiting[ObjectIdentifier(waiter)] = waiter
                state.fetches[key]?.priorities[ObjectIdentifier(waiter)] = wish
                return nil
            }
            state.lastNumber += 1
            let fetch = Fetch(number: state.lastNumber, priority: AdjustablePriority(wish))
            state.fetches[key] = fetch
            state.fetches[key]?.priorities[ObjectIdentifier(fetch.priority)] = wish
            return Ticket(key: key, number: fetch.number, priority: fetch.priority)
        }
        if let ticket { return .leads(ticket) }
        follow(key)
        return .waited(
            try await AdjustablePriority.following {
                self.prioritize(key, ObjectIdentifier(waiter), $0)
            } _: {
                // It may have changed before it was followed.
                if let now = AdjustablePriority.current?.value { prioritize(key, ObjectIdentifier(waiter), now) }
                return try await waiter.value { leave(key, waiter) }
            })
    }

    /// Runs the work of a registered fetch, with the priority that its waiters give it.
    func lead<Result>(
        _ ticket: Ticket, _ work: nonisolated(nonsending) () async throws -> Result
    ) async rethrows -> Result {
        try await AdjustablePriority.following {
            self.prioritize(ticket.key, ObjectIdentifier(ticket.priority), $0)
        } _: {
            defer { ticket.priority.end() }
            return try await AdjustablePriority.$inherited.withValue(ticket.priority) { try await work() }
        }
    }

    private func leave(_ key: Key, _ waiter: Waiter<Outcome>) {
        state.withLock { state in
            state.fetches[key]?.priorities[ObjectIdentifier(waiter)] = nil
            _ = state.fetches[key]?.waiting.removeValue(forKey: ObjectIdentifier(waiter))
        }
        follow(key)
        waiter.resume(with: .failure(CancellationError()))
    }

    /// Changes the priority of one request, unless it has left.
    private func prioritize(_ key: Key, _ request: ObjectIdentifier, _ priority: LoadPriority) {
        state.withLock { state in
            guard state.fetches[key]?.priorities[request] != nil else { return }
            state.fetches[key]?.priorities[request] = priority
        }
        follow(key)
    }

    /// Gives a fetch the highest priority of its requests.
    private func follow(_ key: Key) {
        // Threads may set the priority concurrently and out of order, so check again after setting it.
        while let (priority, highest) = nextPriority(of: key) { priority.set(highest) }
    }

    private func nextPriority(of key: Key) -> (AdjustablePriority, LoadPriority)? {
        state.withLock { state in
            guard let fetch = state.fetches[key], let highest = fetch.priorities.values.max(),
                highest != fetch.priority.value
            else { return nil }
            return (fetch.priority, highest)
        }
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
