#if !SANITIZE
// Public, as the class is usable from inlined code: else no other module of this package specialises `withLock`, and
// each call looks generic metadata up.
public import Synchronization

/// The one lock of this package: a value that can only be reached while it is locked.
@usableFromInline
package final class Lock<Value: ~Copyable>: Sendable {
    @usableFromInline let storage: Mutex<Value>

    /// Guards a value.
    @inlinable
    package init(_ value: consuming sending Value) { storage = Mutex(value) }

    /// Runs `body` with exclusive access to the value.
    ///
    /// Keep `body` short and never call out from it. Return whatever it takes out of the value, so that the caller
    /// releases it after the lock: a `deinit` may come back here. Debug builds trap if the thread already holds a
    /// lock, unless this one `isInner`, which means that no other is taken under it.
    @inlinable
    package func withLock<Result: ~Copyable, Failure: Error>(
        isInner: Bool = false, _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        #if DEBUG
        HeldLocks.enter(isInner: isInner)
        defer { HeldLocks.leave() }
        #endif
        return try storage.withLock(body)
    }
}
#endif
