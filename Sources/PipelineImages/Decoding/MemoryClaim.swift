import Pipeline

/// Memory claimed from a budget. It is released when the work that needs it ends, or is dropped before it begins.
///
/// A composite that holds memory for its body attaches it to the load. A codec that the load leaves behind keeps it until
/// it ends.
package final class MemoryClaim: LoadAttachment {
    private let budget: MemoryBudget
    let bytes: Int
    private let isHeld = Lock(true)

    /// Takes over a claim.
    init(_ bytes: Int, of budget: MemoryBudget) {
        self.budget = budget
        self.bytes = bytes
    }

    deinit { release() }

    /// Releases the memory, once.
    func release() {
        let wasHeld = isHeld.withLock { held in
            defer { held = false }
            return held
        }
        if wasHeld { budget.release(bytes) }
    }
}
