import Pipeline

/// Memory that was claimed of a budget. It is given back when the work that needs it is over, or if that never begins.
final class MemoryClaim: Sendable {
    private let budget: MemoryBudget
    private let bytes: Int
    private let isHeld = Lock(true)

    /// Takes over what was claimed.
    init(_ bytes: Int, of budget: MemoryBudget) {
        self.budget = budget
        self.bytes = bytes
    }

    deinit { release() }

    /// Gives it back, once.
    func release() {
        let wasHeld = isHeld.withLock { held in
            defer { held = false }
            return held
        }
        if wasHeld { budget.release(bytes) }
    }
}
