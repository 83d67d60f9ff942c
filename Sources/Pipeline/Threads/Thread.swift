import CThread
import LibC

/// A thread of our own.
package enum Thread {
    /// Whether every start fails, as in a process that has reached its limit; for tests.
    @TaskLocal package static var isRefused = false

    /// Starts a detached thread that runs `body` and ends.
    /// - Parameter givesWay: whether it gives way to other threads when there are more than processors.
    /// - Throws: ``Refusal`` if the system has no thread left, such as when the process has reached its limit.
    package static func start(
        name: String, givesWay: Bool = false, _ body: @escaping @Sendable () -> Void
    ) throws(Refusal) {
        if isRefused { throw Refusal(number: EAGAIN) }
        // Decoders need a deep stack: libvips' and libheif's documentation assume the 8 MB that a main thread has.
        let status = startThread(stackSize: 8 << 20) {
            nameThisThread(name)
            if givesWay { cthread_give_way(true) }
            body()
        }
        guard status == 0 else { throw Refusal(number: status) }
    }

    /// Keeps the calling thread from ending the program by SIGPIPE when it writes to a connection that is broken.
    package static func blockBrokenPipes() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    /// Lets the calling thread give way to other threads when there are more than processors, and keep its time slices.
    package static func giveWay() { cthread_give_way(false) }

    /// The system refused another thread.
    package struct Refusal: Error {
        /// The error's number, `EAGAIN` if a limit was reached.
        package let number: Int32

        /// The error of work that needs the thread.
        package func error(_ subject: String = "") -> LoadError {
            LoadError(
                .refused, subject: subject,
                "The system refuses another thread (error \(number)). Raise the limit of threads of the process (ulimit -u, "
                    + "or pids.max of its control group).")
        }
    }
}

/// Names the calling thread for debuggers and `top`; Linux keeps 15 bytes.
private func nameThisThread(_ name: String) {
    #if canImport(Darwin)
    pthread_setname_np(name)
    #else
    let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    defer { close(file) }
    _ = Array(name.utf8.prefix(15)).withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
    #endif
}
