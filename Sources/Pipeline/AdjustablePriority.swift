/// The priority of work under way, which may change until the work is over.
///
/// Whoever runs the work makes it ``current`` for its task; whatever waits its turn below, for a thread or for a
/// connection, follows it. So a change reaches work that began long before.
package final class AdjustablePriority: Sendable {
    /// The one that the running task was begun under, perhaps by work that has ended; see ``current``.
    @TaskLocal package static var inherited: AdjustablePriority?

    /// The one that the running task's work follows. `nil` where the priority is fixed, and in a task that has outlived the
    /// work that began it.
    package static var current: AdjustablePriority? { inherited.flatMap { $0.isOver ? nil : $0 } }

    private struct State {
        var value: LoadPriority
        var followers: [UInt64: @Sendable (LoadPriority) -> Void] = [:]
        var lastNumber: UInt64 = 0
        var isTelling = false
        var isOver = false
    }

    private let state: Lock<State>

    /// Begins with a priority.
    package init(_ value: LoadPriority) { state = Lock(State(value: value)) }

    /// The priority now.
    package var value: LoadPriority { state.withLock(isInner: true) { $0.value } }

    /// Says that the work is over. Tasks that it began and that still run are on their own from now on.
    package func end() { state.withLock { $0.isOver = true } }

    private var isOver: Bool { state.withLock(isInner: true) { $0.isOver } }

    /// Changes the priority and tells who follows it, unless it is the same.
    package func set(_ value: LoadPriority) {
        let tells = state.withLock { state -> Bool in
            guard state.value != value else { return false }
            state.value = value
            // Whoever is telling now goes round once more: so nobody hears an old value last.
            defer { state.isTelling = true }
            return !state.isTelling
        }
        guard tells else { return }
        var told: LoadPriority?
        while let (value, followers) = next(after: told) {
            HeldLocks.requireNone()
            for follower in followers { follower(value) }
            told = value
        }
    }

    private func next(after told: LoadPriority?) -> (LoadPriority, [@Sendable (LoadPriority) -> Void])? {
        state.withLock { state in
            guard state.value != told else {
                state.isTelling = false
                return nil
            }
            return (state.value, state.followers.sorted { $0.key < $1.key }.map(\.value))
        }
    }

    /// Is told of changes from now on, until ``unfollow(_:)``.
    package func follow(_ changed: @escaping @Sendable (LoadPriority) -> Void) -> UInt64 {
        state.withLock { state in
            state.lastNumber += 1
            state.followers[state.lastNumber] = changed
            return state.lastNumber
        }
    }

    /// Is told of no more changes.
    package func unfollow(_ number: UInt64) {
        // Outside the lock: the closure may have the last reference to what follows.
        _ = state.withLock { $0.followers.removeValue(forKey: number) }
    }

    /// Runs work that is told of the current priority's changes; just runs it where the priority is fixed.
    package static func following<Result>(
        _ changed: @escaping @Sendable (LoadPriority) -> Void,
        _ work: nonisolated(nonsending) () async throws -> Result
    ) async rethrows -> Result {
        guard let current else { return try await work() }
        let number = current.follow(changed)
        defer { current.unfollow(number) }
        return try await work()
    }
}
