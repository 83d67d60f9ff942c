import CHiredis
import LibC

#if LINUX
/// A descriptor that other threads make readable.
final class EventDescriptor: Sendable {
    /// To poll for.
    let number: Int32

    /// Returns `nil` if the process has no descriptor left.
    init?() {
        number = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        if number < 0 { return nil }
    }

    deinit { close(number) }

    /// Makes it readable.
    func signal() { eventfd_write(number, 1) }

    /// Makes it unreadable again.
    func clear() {
        var count: eventfd_t = 0
        eventfd_read(number, &count)
    }
}
#else
/// A descriptor that other threads make readable: the end of a pipe, since only Linux has eventfd. It takes two
/// descriptors, and a program that another thread starts in the moment of its making inherits them.
final class EventDescriptor: Sendable {
    /// To poll for.
    let number: Int32
    private let writer: Int32

    /// Returns `nil` if the process has no descriptor left.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (number, writer) = (ends[0], ends[1])
    }

    deinit {
        close(number)
        close(writer)
    }

    /// Makes it readable. A full pipe is readable already.
    func signal() {
        var byte: UInt8 = 0
        write(writer, &byte, 1)
    }

    /// Makes it unreadable again.
    func clear() {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while read(number, &bytes, bytes.count) == bytes.count {}
    }
}
#endif
