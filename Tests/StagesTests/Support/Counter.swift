import Synchronization

/// Counts what happens on any thread.
final class Counter: Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .sequentiallyConsistent) }

    @discardableResult
    func increment() -> Int { count.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue }

    func decrement() { count.subtract(1, ordering: .sequentiallyConsistent) }

    /// Gives other tasks their turn until the count is there.
    func reaches(_ wanted: Int) async { while value < wanted { await Task.yield() } }
}
