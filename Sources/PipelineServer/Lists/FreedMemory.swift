import Pipeline
import Synchronization

/// Returns memory to the system some seconds after the last work has ended, and once a minute while there is work: what the
/// allocator keeps of a busy time would otherwise count as the server's for ever.
final class FreedMemory: Sendable {
    /// How long there has to be no work. Returning takes some milliseconds, and so does taking memory again.
    static let pause = Duration.seconds(5)
    /// How often memory is returned while there is work.
    static let interval = Duration.seconds(60)

    private let clock: any LoadClock
    private let giveBack: @Sendable () -> Void
    private let thread = SerialThread(name: "freed-memory")
    private let isPlanned = Atomic<Bool>(false)
    /// By the clock's monotonic time, in nanoseconds.
    private let lastReturn: Atomic<Int64>

    /// - Parameters:
    ///   - clock: By which the pause is measured.
    ///   - giveBack: Returns the memory, on a thread of its own.
    init(clock: any LoadClock, giveBack: @escaping @Sendable () -> Void = returnFreedMemory) {
        (self.clock, self.giveBack) = (clock, giveBack)
        lastReturn = Atomic(clock.uptimeNanoseconds)
    }

    /// Plans to return memory after a pause, if there is no work then or it is time.
    func workEnded(isIdle: @escaping @Sendable () -> Bool) {
        guard !isPlanned.exchange(true, ordering: .relaxed) else { return }
        Task { [weak self, clock] in
            try? await clock.sleep(for: Self.pause)
            guard let self else { return }
            self.isPlanned.store(false, ordering: .relaxed)
            let now = clock.uptimeNanoseconds
            let isDue = now - self.lastReturn.load(ordering: .relaxed) >= Self.interval.nanoseconds
            // If neither, the end of the next work plans again.
            guard isIdle() || isDue else { return }
            self.lastReturn.store(now, ordering: .relaxed)
            self.thread.run(self.giveBack)
        }
    }
}
