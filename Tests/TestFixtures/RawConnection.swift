import LibC
import Pipeline

/// One connection of a ``RawOrigin``.
package final class RawConnection: Sendable {
    package let number: Int
    private let socket: Int32
    private let isOpen = Lock(true)

    package init(_ socket: Int32, number: Int) {
        self.socket = socket
        self.number = number
    }

    deinit { close(socket) }

    /// Sends bytes, in one write as far as the system takes them.
    /// - Returns: false if the other end has left.
    @discardableResult
    package func send(_ bytes: some Sequence<UInt8>) -> Bool {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { LibC.send(socket, $0.baseAddress, $0.count, Socket.withoutSignal) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    package func send(_ text: String) { send(Array(text.utf8)) }

    /// Returns once the other end's system has everything that was sent.
    package func waitUntilDelivered() {
        var unsent: Int32 = 1
        while isOpen.withLock({ $0 }), ioctl(socket, UInt(TIOCOUTQ), &unsent) == 0, unsent > 0 { sched_yield() }
    }

    /// Waits for the other end to send or leave, but no longer.
    package func wait(milliseconds: Int32) {
        var polled = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        poll(&polled, 1, milliseconds)
    }

    /// Ends the connection as one should, after what was sent.
    package func stop() { isOpen.withLock { if $0 { LibC.shutdown(socket, Int32(SHUT_RDWR)) } } }

    /// Ends the connection with a reset, which may overtake what was sent.
    package func reset() {
        var now = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
        end()
    }

    /// Ends the connection, once. Its number stays taken until nobody can use it any more: bytes that a test sends later
    /// must not arrive on another test's connection, which the system would give the same number.
    package func end() {
        isOpen.withLock { isOpen in
            guard isOpen else { return }
            let unconnected = LibC.socket(AF_INET, Socket.stream, 0)
            dup2(unconnected, socket)
            _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
            close(unconnected)
            isOpen = false
        }
    }

    /// Reads the next request; `nil` if there is none any more.
    package func nextRequest() -> RawRequest? {
        var head: [UInt8] = []
        var byte: UInt8 = 0
        while isOpen.withLock({ $0 }), recv(socket, &byte, 1, 0) == 1 {
            head.append(byte)
            if head.suffix(4) == Array("\r\n\r\n".utf8)[...] { return RawRequest(head, connection: number) }
        }
        return nil
    }
}
