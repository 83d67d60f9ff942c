import Pipeline
import Synchronization

/// Holds a load's events back until they may be reported, in their order.
final class HeldEvents: Sendable {
    private let relay: EventRelay
    private let isOpen = Atomic<Bool>(false)

    init(_ sink: @escaping @Sendable (LoadEvent) -> Void) { relay = EventRelay(sink) }

    func take(_ event: LoadEvent) {
        relay.enqueue([event])
        if isOpen.load(ordering: .sequentiallyConsistent) { relay.deliver() }
    }

    /// Reports the held events, and from now on every event at once.
    func open() {
        isOpen.store(true, ordering: .sequentiallyConsistent)
        relay.deliver()
    }
}
