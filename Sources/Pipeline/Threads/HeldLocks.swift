import LibC

/// How many locks of this package the current thread holds. Only debug builds count; release builds pay nothing.
///
/// Code that isn't ours (closures, observers, the `deinit` of attachments and errors) may call back into this package,
/// so it must never run while a lock is held: the next lock could be the same one. Debug builds trap where that is
/// about to happen.
@usableFromInline
package enum HeldLocks {
    #if DEBUG
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// How many locks this thread holds; always 0 in release builds.
    package private(set) static var count: Int {
        get { Int(bitPattern: pthread_getspecific(key)) }
        set { pthread_setspecific(key, UnsafeRawPointer(bitPattern: newValue)) }
    }

    /// Notes that this thread takes a lock.
    /// - Parameter isInner: whether the lock may be taken while another is held.
    @usableFromInline
    package static func enter(isInner: Bool) {
        precondition(
            isInner || count == 0,
            "A lock is taken while another one is held. Take one after the other, or use withLock(isInner: true).")
        count += 1
    }

    /// Notes that this thread has released a lock.
    @usableFromInline
    package static func leave() { count -= 1 }

    @usableFromInline
    package static func check() {
        precondition(count == 0, "Code that isn't ours is about to run under a lock; release the lock first.")
    }
    #else
    /// How many locks this thread holds; always 0 in release builds.
    package static var count: Int { 0 }
    #endif

    /// Ends a debug build if this thread holds a lock. Call it where code that isn't ours is about to run.
    @inlinable
    package static func requireNone() {
        #if DEBUG
        check()
        #endif
    }
}
