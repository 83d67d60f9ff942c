#if SANITIZE
import LibC

/// The lock in sanitizer builds. On Linux, ThreadSanitizer doesn't know that `Mutex` locks, and reports races on
/// the value that it guards.
///
/// Unchecked, and safe: `value` is only touched between `pthread_mutex_lock` and `pthread_mutex_unlock`, except in `init`
/// and `deinit`, where no other thread has a reference.
@usableFromInline
package final class Lock<Value: ~Copyable>: @unchecked Sendable {
    private nonisolated(unsafe) var value: Value
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    /// Guards a value.
    @usableFromInline
    package init(_ value: consuming sending Value) {
        self.value = value
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs `body` with exclusive access to the value; see the other variant.
    @usableFromInline
    package func withLock<Result: ~Copyable, Failure: Error>(
        isInner: Bool = false, _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        #if DEBUG
        HeldLocks.enter(isInner: isInner)
        defer { HeldLocks.leave() }
        #endif
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}
#endif
