import LibC
import Pipeline

/// A one-time event that a thread can await together with a socket: a pipe whose writing end gets closed.
final class ScriptedOriginSignal: Sendable {
    private let reader: Int32
    private let writer: Lock<Int32?>

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw LoadError(.unreachable, subject: "127.0.0.1", "The system gives no pipe (error \(errno)).")
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        reader = ends[0]
        writer = Lock(ends[1])
    }

    deinit {
        raise()
        close(reader)
    }

    func raise() {
        writer.withLock { writer in
            if let end = writer { close(end) }
            writer = nil
        }
    }

    /// Blocks until this is raised or one of the other signals is.
    func wait(or other: ScriptedOriginSignal? = nil) { _ = wait(on: -1, for: 0, or: other) }

    /// Blocks until this or the other signal is raised, or a socket is ready.
    /// - Returns: The events that the socket is ready for; 0 for a signal.
    func wait(on socket: Int32, for events: Int32, or other: ScriptedOriginSignal? = nil) -> Int32 {
        var polled = [
            pollfd(fd: socket, events: Int16(events), revents: 0),
            pollfd(fd: reader, events: 0, revents: 0),
            pollfd(fd: other?.reader ?? -1, events: 0, revents: 0),
        ]
        while poll(&polled, nfds_t(polled.count), -1) < 0 && errno == EINTR {}
        return polled[1].revents != 0 || polled[2].revents != 0 ? 0 : Int32(polled[0].revents)
    }
}
