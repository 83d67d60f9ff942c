import Synchronization

/// The priority of running work, which may change until the work is over.
///
/// The code that runs the work sets ``inherited`` for its task. Work that is queued below, for a thread or a
/// connection, follows ``current``, so a change reaches work that started earlier.
@usableFromInline
package final class AdjustablePriority: Sendable {
    /// The priority that the running task inherited, perhaps from work that has ended; see ``current``.
    @TaskLocal package static var inherited: AdjustablePriority?

    /// The priority that the running task follows. `nil` if the priority is fixed or the task has outlived the work
    /// that started it.
    @usableFromInline
    package static var current: AdjustablePriority? { inherited.flatMap { $0.isOver ? nil : $0 } }

    private struct State {
        var value: LoadPriority
        var followers: [UInt64: @Sendable (LoadPriority) -> Void] = [:]
        var lastNumber: UInt64 = 0
        var isTelling = false
        var isOver = false
    }

    private let state: Lock<State>
    /// The work's age, which grows with each that starts in this process.
    let number = nextNumber()

    private static let lastNumber = Atomic<UInt64>(0)

    /// An age for work that starts now.
    static func nextNumber() -> UInt64 { lastNumber.add(1, ordering: .relaxed).newValue }

    /// Starts with a priority.
    package init(_ value: LoadPriority) { state = Lock(State(value: value)) }

    /// The priority now.
    @usableFromInline
    package var value: LoadPriority { state.withLock(isInner: true) { $0.value } }

    /// Marks the work as over. Tasks that it started and that still run no longer follow its priority.
    package func end() { state.withLock { $0.isOver = true } }

    private var isOver: Bool { state.withLock(isInner: true) { $0.isOver } }

    /// Changes the priority and notifies its followers, unless it is the same.
    package func set(_ value: LoadPriority) {
        let tells = state.withLock { state -> Bool in
            guard state.value != value else { return false }
            state.value = value
            // A call that is already notifying does one more round, so no follower hears an old value last.
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

    /// Calls `changed` after every change until ``unfollow(_:)`` is called with the returned number.
    @usableFromInline
    package func follow(_ changed: @escaping @Sendable (LoadPriority) -> Void) -> UInt64 {
        state.withLock { state in
            state.lastNumber += 1
            state.followers[state.lastNumber] = changed
            return state.lastNumber
        }
    }

    /// Ends the calls that ``follow(_:)`` started.
    @usableFromInline
    package func unfollow(_ number: UInt64) {
        // Released outside the lock: the closure may hold the last reference to its follower.
        _ = state.withLock { $0.followers.removeValue(forKey: number) }
    }

    /// Runs `work` and meanwhile calls `changed` when the current priority changes. If it is fixed, only runs `work`.
    @inlinable
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
