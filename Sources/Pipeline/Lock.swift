#if !SANITIZE
    package import Synchronization

    /// The one lock of this package: a value that can only be reached while it is locked.
    package final class Lock<Value: ~Copyable>: Sendable {
        @usableFromInline let storage: Mutex<Value>

        /// Guards a value.
        package init(_ value: consuming sending Value) { storage = Mutex(value) }

        /// Runs `body` with the value, alone. Keep it short, never call out from it.
        @inlinable
        package func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            try storage.withLock(body)
        }
    }
#endif
