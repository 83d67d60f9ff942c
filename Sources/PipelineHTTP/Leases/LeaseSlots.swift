import Pipeline

/// Limits the leases that a cache has open, held or waited for. Each is an open file, and a process may commonly have
/// 1,024.
final class LeaseSlots: Sendable {
    private let limit: Int
    private let taken = Lock(0)

    /// By default, more than the transfers that a client runs concurrently.
    init(limit: Int = 256) { self.limit = limit }

    /// Takes a slot, which is returned with its last reference; `nil` if none is free.
    func take() -> LeaseSlot? {
        let isFree = taken.withLock { taken in
            guard taken < limit else { return false }
            taken += 1
            return true
        }
        return isFree ? LeaseSlot(self) : nil
    }

    fileprivate func giveBack() { taken.withLock { $0 -= 1 } }
}

/// A slot for one open lease.
final class LeaseSlot: Sendable {
    private let slots: LeaseSlots

    fileprivate init(_ slots: LeaseSlots) { self.slots = slots }

    deinit { slots.giveBack() }
}
