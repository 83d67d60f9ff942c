import Glibc
import Pipeline

/// The waiters for leases that others hold: a thread of its own that the kernel wakes when one of them ends.
///
/// Every lease is an open file, so its end closes it, also where its process dies; inotify tells. The thread is there
/// while somebody waits.
final class LeaseQueue: Sendable {
    /// How waiting ended.
    enum Outcome: Sendable {
        /// The holder died, or has just ended: the lease is this process's now.
        case taken
        /// The holder was done, or took too long: look for what it has stored.
        case over
    }

    private struct Wait {
        let file: LeaseFile
        /// The count of ends before this wait.
        let ends: UInt8
        let deadline: Duration
        let waiter = Waiter<Outcome>()
    }

    private struct State {
        var waits: [ObjectIdentifier: Wait] = [:]
        /// Wakes the thread, where there is one.
        var alarm: LeaseAlarm?
    }

    private let folder: CacheFolder
    private let clock = SystemClock()
    private let state = Lock(State())

    init(_ folder: CacheFolder) { self.folder = folder }

    /// How many wait.
    var count: Int { state.withLock { $0.waits.count } }

    /// Waits until a lease is taken or its holder is done.
    /// - Parameters:
    ///   - file: the lease, which somebody else has.
    ///   - ends: its count of ends from before it was tried.
    ///   - patience: how long to wait at most.
    /// - Throws: `CancellationError` at once when the task is cancelled.
    func wait(for file: LeaseFile, ends: UInt8, patience: Duration) async throws -> Outcome {
        let wait = Wait(file: file, ends: ends, deadline: clock.uptime + patience)
        return try await wait.waiter.wait {
            add(wait)
        } leave: {
            let waits = state.withLock { $0.waits.removeValue(forKey: ObjectIdentifier(wait.waiter)) != nil }
            // Otherwise its outcome is on the way, which may be the lease.
            if waits { wait.waiter.resume(with: .failure(CancellationError())) }
        }
    }

    private func add(_ wait: Wait) {
        let (alarm, starts) = state.withLock { state -> (LeaseAlarm?, Bool) in
            state.waits[ObjectIdentifier(wait.waiter)] = wait
            let starts = state.alarm == nil
            if starts { state.alarm = LeaseAlarm(folder) }
            return (state.alarm, starts)
        }
        guard let alarm else { return }
        if starts {
            do { try Thread.start(name: "pipeline-lease") { self.watch(alarm) } } catch { giveUp() }
        } else {
            // The lease may have ended between the try and now.
            alarm.ring()
        }
    }

    /// No thread can watch: nobody waits then.
    private func giveUp() {
        let waits = state.withLock { state in
            defer { (state.waits, state.alarm) = ([:], nil) }
            return Array(state.waits.values)
        }
        for wait in waits { wait.waiter.resume(with: .success(.over)) }
    }

    private func watch(_ alarm: LeaseAlarm) {
        // The kernel tells of a dead process's file a moment before it takes its locks away.
        let pauses: [Int32] = [2, 10, 50, 1000]
        var pause = 0
        while settle() {
            let isTold = alarm.wait(milliseconds: pauses[pause])
            pause = isTold ? 0 : min(pause + 1, pauses.count - 1)
        }
    }

    /// Lets go whose wait is over; false if nobody waits any more, and then the thread ends.
    private func settle() -> Bool {
        let now = clock.uptime
        let (over, goesOn) = state.withLock { state in
            var over: [(Wait, Outcome)] = []
            for (number, wait) in state.waits {
                guard let outcome = outcome(of: wait, now) else { continue }
                state.waits[number] = nil
                over.append((wait, outcome))
            }
            if state.waits.isEmpty { state.alarm = nil }
            return (over, !state.waits.isEmpty)
        }
        for (wait, outcome) in over { wait.waiter.resume(with: .success(outcome)) }
        return goesOn
    }

    private func outcome(of wait: Wait, _ now: Duration) -> Outcome? {
        if wait.file.ends != wait.ends || now >= wait.deadline { return .over }
        guard wait.file.take() else { return nil }
        return .taken
    }
}
