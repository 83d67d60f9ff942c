import CThread
import Glibc

/// A thread of our own.
package enum Thread {
    private final class Start: Sendable {
        let name: String
        let givesWay: Bool
        let body: @Sendable () -> Void

        init(name: String, givesWay: Bool, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.givesWay = givesWay
            self.body = body
        }
    }

    /// Starts a detached thread that runs `body` and ends. Signals go to the program's other threads.
    /// - Parameter givesWay: whether all others come before it where there are more than processors.
    package static func start(name: String, givesWay: Bool = false, _ body: @escaping @Sendable () -> Void) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        // Decoders are deep: libvips' and libheif's documentation assume the 8 MB that a main thread has.
        pthread_attr_setstacksize(&attributes, 8 << 20)
        var thread = pthread_t()
        let start = Unmanaged.passRetained(Start(name: name, givesWay: givesWay, body: body))
        let status = pthread_create(
            &thread, &attributes,
            { argument in
                guard let argument else { return nil }
                let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
                nameThisThread(start.name)
                if start.givesWay { cthread_give_way() }
                start.body()
                return nil
            }, start.toOpaque())
        pthread_attr_destroy(&attributes)
        precondition(status == 0, "The system refuses another thread (error \(status)); raise its limit of threads.")
    }
}

/// Names the calling thread for debuggers and `top`; Linux keeps 15 bytes.
private func nameThisThread(_ name: String) {
    let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    defer { close(file) }
    _ = Array(name.utf8.prefix(15)).withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
}
