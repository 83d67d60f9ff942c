import Synchronization

extension BlockingThreads {
    /// Runs the parts of a piece of work on the calling thread and on idle threads of this pool, and returns when all
    /// parts are done.
    ///
    /// The calling thread runs part after part whether others help or not, so it never waits for a free thread. Parts
    /// must not wait for other work on these threads.
    /// - Parameters:
    ///   - count: the number of parts.
    ///   - part: runs the part with a number, from 0. Several run concurrently.
    package func runParts(_ count: Int, _ part: @escaping @Sendable (Int) -> Void) {
        let parts = Parts(count: count, run: part)
        let helperCount = Self.isAlone ? 0 : max(0, min(self.count, count) - 1)
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
        // Helpers that haven't started would find nothing to do.
        for helper in helpers where remove(helper) { end() }
        running.wait(for: { $0 == 0 ? () : nil }, whileIdle: { _, _ in })
    }

    /// Whether this process does all parts on the calling thread, as processes do that only decode.
    package static var isAlone: Bool {
        get { alone.load(ordering: .relaxed) }
        set { alone.store(newValue, ordering: .relaxed) }
    }

    private static let alone = Atomic<Bool>(false)

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
