package import Essentials
import Pipeline
import Synchronization

/// Since when every removal is heard that concerns a machine's caches. Responses that were stored earlier, and not confirmed
/// since, may have been removed without its knowledge: the origin or a farther tier has to confirm them before they are
/// served.
///
/// A fleet's member has one. It is read in each lookup in memory, so it is an atomic.
package final class RemovalKnowledge: Sendable {
    /// Microseconds since 1970.
    private let since = Atomic<Int64>(.max)

    /// Nothing has been heard yet, so every response is uncertain.
    package init() {}

    /// Notes that every removal is heard of responses that were stored at a time or later; of none for `distantFuture`, and
    /// of all for `distantPast`.
    package func set(since time: Date) { since.store(time.microseconds, ordering: .releasing) }

    /// Whether a response may have been removed without its knowledge.
    package func isUncertain(storedAt time: Date) -> Bool {
        time.microseconds < since.load(ordering: .acquiring)
    }
}

/// Is told of each URL and tag whose responses are removed.
package protocol RemovalListener: AnyObject, Sendable {
    /// The responses of a URL or a tag are being removed; no later lookup finds them.
    func removed(_ target: String)
}

/// What a tier knows of removals beyond what its store does.
final class TierRemovals: Sendable {
    private struct State {
        /// The URLs and tags whose responses the store has yet to remove, with the times of the removals.
        var announced: [String: Date] = [:]
        var knowledge: [RemovalKnowledge] = []
        var listeners: [Listener] = []
    }

    private struct Listener {
        weak var listener: (any RemovalListener)?
    }

    private let state = Lock(State())

    func add(_ knowledge: RemovalKnowledge) { state.withLock { $0.knowledge.append(knowledge) } }

    /// Adds a listener, which is not kept alive. Adding it again has no effect.
    func add(_ listener: any RemovalListener) {
        // The references are released outside the lock, since one of them may have become the last.
        _ = state.withLock { state in
            let living = state.listeners.compactMap(\.listener)
            state.listeners.removeAll { $0.listener == nil }
            if !living.contains(where: { $0 === listener }) { state.listeners.append(Listener(listener: listener)) }
            return living
        }
    }

    func announce(_ target: String, at time: Date) {
        let listeners = state.withLock { state in
            state.announced[target] = time
            return state.listeners.compactMap(\.listener)
        }
        for listener in listeners { listener.removed(target) }
    }

    /// Notes that the store has removed them, unless they were announced again since.
    func end(_ target: String, at time: Date) {
        state.withLock { if $0.announced[target] == time { $0.announced[target] = nil } }
    }

    /// Whether anything is announced, so that ``isRemoved(_:)`` has to be asked.
    var isPending: Bool { state.withLock { !$0.announced.isEmpty } }

    /// Whether a response is stored only because the store has yet to remove it.
    func isRemoved(_ response: StoredResponse) -> Bool {
        let targets = response.targets
        return state.withLock { state in
            targets.contains { target in state.announced[target].map { response.requestTime < $0 } ?? false }
        }
    }

    /// Whether a response may have been removed without the machine's knowledge.
    func isUncertain(storedAt time: Date) -> Bool {
        state.withLock(\.knowledge).contains { $0.isUncertain(storedAt: time) }
    }
}
