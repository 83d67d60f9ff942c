import Glibc
import Pipeline

/// Who waits for leases that others have: a thread of its own that the kernel wakes when one of them ends.
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

    private struct Waiter {
        let file: LeaseFile
        /// The count of ends before this wait.
        let ends: UInt8
        let deadline: Duration
        let continuation: CheckedContinuation<Outcome, any Error>
    }

    private struct State {
        var waiters: [UInt64: Waiter] = [:]
        var lastNumber: UInt64 = 0
        /// Wakes the thread, where there is one.
        var alarm: LeaseAlarm?
    }

    private let folder: CacheFolder
    private let clock = SystemClock()
    private let state = Lock(State())

    init(_ folder: CacheFolder) { self.folder = folder }

    /// How many wait.
    var count: Int { state.withLock { $0.waiters.count } }

    /// Waits until a lease is taken or its holder is done.
    /// - Parameters:
    ///   - file: the lease, which somebody else has.
    ///   - ends: its count of ends from before it was tried.
    ///   - patience: how long to wait at most.
    /// - Throws: `CancellationError` at once when the task is cancelled.
    func wait(for file: LeaseFile, ends: UInt8, patience: Duration) async throws -> Outcome {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        let deadline = clock.uptime + patience
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                add(number, Waiter(file: file, ends: ends, deadline: deadline, continuation: continuation))
            }
        } onCancel: {
            let waiter = state.withLock { $0.waiters.removeValue(forKey: number) }
            waiter?.continuation.resume(throwing: CancellationError())
        }
    }

    private func add(_ number: UInt64, _ waiter: Waiter) {
        let (alarm, starts, isCancelled) = state.withLock { state -> (LeaseAlarm?, Bool, Bool) in
            // The cancellation handler ran already and found nobody.
            if Task.isCancelled { return (nil, false, true) }
            state.waiters[number] = waiter
            let starts = state.alarm == nil
            if starts { state.alarm = LeaseAlarm(folder) }
            return (state.alarm, starts, false)
        }
        if isCancelled { return waiter.continuation.resume(throwing: CancellationError()) }
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
        let waiters = state.withLock { state in
            defer { (state.waiters, state.alarm) = ([:], nil) }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.continuation.resume(returning: .over) }
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
            var over: [(Waiter, Outcome)] = []
            for (number, waiter) in state.waiters {
                guard let outcome = outcome(of: waiter, now) else { continue }
                state.waiters[number] = nil
                over.append((waiter, outcome))
            }
            if state.waiters.isEmpty { state.alarm = nil }
            return (over, !state.waiters.isEmpty)
        }
        for (waiter, outcome) in over { waiter.continuation.resume(returning: outcome) }
        return goesOn
    }

    private func outcome(of waiter: Waiter, _ now: Duration) -> Outcome? {
        if waiter.file.ends != waiter.ends || now >= waiter.deadline { return .over }
        guard waiter.file.take() else { return nil }
        return .taken
    }
}
