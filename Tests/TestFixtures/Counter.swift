import Synchronization

/// Counts what happens on any thread.
package final class Counter: Sendable {
    private let count = Atomic<Int>(0)

    package init() {}

    package var value: Int { count.load(ordering: .sequentiallyConsistent) }

    @discardableResult
    package func increment() -> Int { count.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue }

    package func decrement() { count.subtract(1, ordering: .sequentiallyConsistent) }

    /// Gives other tasks their turn until the count is there.
    package func reaches(_ wanted: Int) async { while value < wanted { await Task.yield() } }
}
