import LibC

/// A value behind a lock, with a condition that our threads can wait for.
///
/// `Mutex` has no condition to wait for, so this holds a pthread mutex and a condition variable.
///
/// Unchecked, and safe: `value`, `mutex` and `condition` are only touched between `pthread_mutex_lock` and
/// `pthread_mutex_unlock`, except in `init` and `deinit`, where no other thread has a reference.
package final class Monitor<Value>: @unchecked Sendable {
    package enum Wake { case none, one, all }

    private var value: Value
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    package init(_ value: sending Value) {
        self.value = value
        pthread_mutex_init(mutex, nil)
        #if canImport(Darwin)
        pthread_cond_init(condition, nil)
        #else
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
        #endif
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Runs `body` with exclusive access to the value, then wakes threads that wait for a change. The rules are those of
    /// `Lock.withLock`.
    package func withLock<Result>(wake: Wake = .none, _ body: (inout Value) -> Result) -> Result {
        #if DEBUG
        HeldLocks.enter(isInner: false)
        defer { HeldLocks.leave() }
        #endif
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        let result = body(&value)
        switch wake {
        case .none: break
        case .one: pthread_cond_signal(condition)
        case .all: pthread_cond_broadcast(condition)
        }
        return result
    }

    /// Blocks this thread until `body` returns a value. Calls `whileIdle` with +1 before each wait and -1 after it.
    package func wait<Result>(for body: (inout Value) -> Result?, whileIdle: (inout Value, Int) -> Void) -> Result {
        #if DEBUG
        HeldLocks.enter(isInner: false)
        defer { HeldLocks.leave() }
        #endif
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&value) { return result }
            whileIdle(&value, 1)
            pthread_cond_wait(condition, mutex)
            whileIdle(&value, -1)
        }
    }

    /// Blocks this thread until `body` returns a value, for `milliseconds` at most; `nil` after that.
    package func wait<Result>(milliseconds: Int, for body: (inout Value) -> Result?) -> Result? {
        #if DEBUG
        HeldLocks.enter(isInner: false)
        defer { HeldLocks.leave() }
        #endif
        let end = SystemClock().uptimeNanoseconds + Int64(milliseconds) * 1_000_000
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&value) { return result }
            guard waitForChange(until: end) else { return nil }
        }
    }

    /// Waits until a thread is woken; returns false at an uptime in nanoseconds.
    private func waitForChange(until end: Int64) -> Bool {
        var time = timespec()
        #if canImport(Darwin)
        // Its conditions know no other clock than the time of day, but take the time that is left.
        let left = max(0, end - SystemClock().uptimeNanoseconds)
        (time.tv_sec, time.tv_nsec) = (Int(left / 1_000_000_000), Int(left % 1_000_000_000))
        return pthread_cond_timedwait_relative_np(condition, mutex, &time) == 0
        #else
        (time.tv_sec, time.tv_nsec) = (Int(end / 1_000_000_000), Int(end % 1_000_000_000))
        return pthread_cond_timedwait(condition, mutex, &time) == 0
        #endif
    }
}
