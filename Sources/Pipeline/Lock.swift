#if !SANITIZE
    package import Synchronization

    /// The one lock of this package: a value that can only be reached while it is locked.
    package final class Lock<Value: ~Copyable>: Sendable {
        @usableFromInline let storage: Mutex<Value>

        /// Guards a value.
        package init(_ value: consuming sending Value) { storage = Mutex(value) }

        /// Runs `body` with exclusive access to the value.
        ///
        /// Keep `body` short and never call out from it. Return whatever it takes out of the value, so that the caller
        /// releases it after the lock: a `deinit` may come back here. Debug builds end where another lock is held already.
        @inlinable
        package func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            #if DEBUG
                HeldLocks.enter(isInner: false)
                defer { HeldLocks.leave() }
            #endif
            return try storage.withLock(body)
        }

        /// Runs `body` as ``withLock(_:)`` does, also while another lock is held: for a lock under which no other is taken.
        @inlinable
        package func withInnerLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            #if DEBUG
                HeldLocks.enter(isInner: true)
                defer { HeldLocks.leave() }
            #endif
            return try storage.withLock(body)
        }
    }
#endif
