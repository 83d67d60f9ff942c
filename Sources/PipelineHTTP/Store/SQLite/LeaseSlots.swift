import Pipeline

/// How many leases a cache may have open at once, held and waited for: each is an open file, of which a process commonly
/// may have 1,024.
final class LeaseSlots: Sendable {
    private let limit: Int
    private let taken = Lock(0)

    /// More than a client has transfers under way.
    init(limit: Int = 256) { self.limit = limit }

    /// A place for one more, until it is let go; `nil` if there is none.
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

/// A place among the open leases.
final class LeaseSlot: Sendable {
    private let slots: LeaseSlots

    fileprivate init(_ slots: LeaseSlots) { self.slots = slots }

    deinit { slots.giveBack() }
}
