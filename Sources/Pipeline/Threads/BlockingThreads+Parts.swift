import Synchronization

extension BlockingThreads {
    /// Runs the parts of a piece of work, on the calling thread and on those of these threads that are idle, and returns
    /// when all parts are over.
    ///
    /// The calling thread takes part after part, whether others come or not: nothing here waits for a free thread. Parts
    /// wait for nothing that other work on these threads has to do.
    /// - Parameters:
    ///   - count: how many parts there are.
    ///   - part: does the part of a number, from 0. Several run at once.
    package func runParts(_ count: Int, _ part: @escaping @Sendable (Int) -> Void) {
        let parts = Parts(count: count, run: part)
        let helperCount = max(0, min(self.count, count) - 1)
        let running = Monitor(helperCount)
        let end: @Sendable () -> Void = { running.withLock(wake: .all) { $0 -= 1 } }
        let helpers = (0..<helperCount).map { _ in
            WorkItem {
                parts.runAll()
                end()
            } refuse: { _ in
                end()
            }
        }
        for helper in helpers { enqueue(helper, .veryLow) }
        parts.runAll()
        // Those that haven't begun would find nothing to do.
        for helper in helpers where remove(helper) { end() }
        running.wait(for: { $0 == 0 ? () : nil }, whileIdle: { _, _ in })
    }

    /// The parts that are left.
    private final class Parts: Sendable {
        private let count: Int
        private let next = Atomic<Int>(0)
        private let run: @Sendable (Int) -> Void

        init(count: Int, run: @escaping @Sendable (Int) -> Void) {
            self.count = count
            self.run = run
        }

        func runAll() {
            while true {
                let index = next.add(1, ordering: .relaxed).oldValue
                guard index < count else { return }
                run(index)
            }
        }
    }
}
