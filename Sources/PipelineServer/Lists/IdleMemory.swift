import Pipeline
import Synchronization

/// Returns memory to the system some seconds after the last work has ended: what the allocator keeps of a busy time would
/// otherwise count as the server's for ever.
final class IdleMemory: Sendable {
    /// How long there has to be no work. Returning takes some milliseconds, and so does taking memory again.
    static let pause = Duration.seconds(5)

    private let clock: any LoadClock
    private let giveBack: @Sendable () -> Void
    private let thread = SerialThread(name: "idle-memory")
    private let isPlanned = Atomic<Bool>(false)

    /// - Parameters:
    ///   - clock: By which the pause is measured.
    ///   - giveBack: Returns the memory, on a thread of its own.
    init(clock: any LoadClock, giveBack: @escaping @Sendable () -> Void = returnFreedMemory) {
        (self.clock, self.giveBack) = (clock, giveBack)
    }

    /// Plans to return memory, unless there is work then.
    func workEnded(isIdle: @escaping @Sendable () -> Bool) {
        guard !isPlanned.exchange(true, ordering: .relaxed) else { return }
        Task { [weak self, clock] in
            try? await clock.sleep(for: Self.pause)
            guard let self else { return }
            self.isPlanned.store(false, ordering: .relaxed)
            // If there is work, its end plans again.
            if isIdle() { self.thread.run(self.giveBack) }
        }
    }
}
