private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

/// Starts a detached thread, which ends with `body`.
/// - Parameter stackSize: The bytes of its stack; the system's default if `nil`.
/// - Returns: 0, or the system's error number.
package func startThread(stackSize: Int? = nil, _ body: @escaping @Sendable () -> Void) -> Int32 {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    if let stackSize { pthread_attr_setstacksize(&attributes, stackSize) }
    #if canImport(Glibc)
    var thread = pthread_t()
    #else
    // A pointer in Musl and Darwin.
    var thread: pthread_t?
    #endif
    let start = Unmanaged.passRetained(ThreadBody(body))
    let status = pthread_create(
        &thread, &attributes,
        { argument in
            // Darwin's headers say that it is never null.
            let argument: UnsafeMutableRawPointer? = argument
            guard let argument else { return nil }
            Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().run()
            return nil
        }, start.toOpaque())
    if status != 0 { start.release() }
    return status
}
