import LibC
import Pipeline

/// The waiters for leases that are held elsewhere, with a thread that the kernel wakes when a lease ends.
///
/// Every lease is an open file, which is closed when the lease ends or its process dies, and inotify reports that; without
/// inotify the thread looks again and again. It exists while there are waiters.
final class LeaseQueue: Sendable {
    /// The result of a wait.
    enum Outcome: Sendable {
        /// The holder died, or has just ended: the lease is this process's now.
        case taken
        /// The holder was done, or took too long: look for its stored response.
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

    private let path: String
    private let clock = SystemClock()
    private let state = Lock(State())

    /// - Parameter path: the file of leases.
    init(_ path: String) { self.path = path }

    /// The number of waiters.
    var count: Int { state.withLock { $0.waits.count } }

    /// Waits until a lease is taken or its holder is done.
    /// - Parameters:
    ///   - file: the lease, which is held elsewhere.
    ///   - ends: its count of ends from before it was tried.
    ///   - patience: how long to wait at most.
    /// - Throws: `CancellationError` at once when the task is cancelled.
    func wait(for file: LeaseFile, ends: UInt8, patience: Duration) async throws -> Outcome {
        let wait = Wait(file: file, ends: ends, deadline: clock.uptime + patience)
        return try await wait.waiter.wait {
            add(wait)
        } leave: {
            let waits = state.withLock { $0.waits.removeValue(forKey: ObjectIdentifier(wait.waiter)) != nil }
            // Otherwise it is about to get its outcome, which may be the lease.
            if waits { wait.waiter.resume(with: .failure(CancellationError())) }
        }
    }

    private func add(_ wait: Wait) {
        let (alarm, starts) = state.withLock { state -> (LeaseAlarm?, Bool) in
            state.waits[ObjectIdentifier(wait.waiter)] = wait
            let starts = state.alarm == nil
            if starts { state.alarm = LeaseAlarm(path) }
            return (state.alarm, starts)
        }
        guard let alarm else { return }
        if starts {
            do { try Thread.start(name: "pipeline-lease") { self.watch(alarm) } } catch { giveUp() }
        } else {
            // The lease may have ended since it was tried.
            alarm.ring()
        }
    }

    /// Ends all waits, since no thread can watch.
    private func giveUp() {
        let waits = state.withLock { state in
            defer { (state.waits, state.alarm) = ([:], nil) }
            return Array(state.waits.values)
        }
        for wait in waits { wait.waiter.resume(with: .success(.over)) }
    }

    private func watch(_ alarm: LeaseAlarm) {
        // The kernel reports the closed file of a dead process a moment before it releases its locks.
        let pauses: [Int32] = [2, 10, 50, 1000]
        var pause = 0
        while settle() {
            let isTold = alarm.wait(milliseconds: pauses[pause])
            pause = isTold ? 0 : min(pause + 1, pauses.count - 1)
        }
    }

    /// Resumes waiters whose wait is over. Returns false if none is left, which ends the thread.
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
