import LibC

#if LINUX
/// Wakes a thread when any process closes a folder's file of leases.
final class LeaseAlarm: Sendable {
    private let events: Int32
    private let path: String

    /// Starts watching. If the system has no watch left, ``wait(milliseconds:)`` only ends when its time is over.
    init(_ path: String) {
        self.path = path
        events = inotify_init1(O_CLOEXEC | O_NONBLOCK)
        if events >= 0 { inotify_add_watch(events, path, UInt32(IN_CLOSE_WRITE) | UInt32(IN_DONT_FOLLOW)) }
    }

    deinit { if events >= 0 { close(events) } }

    /// Wakes the thread, as every end of a lease does.
    func ring() {
        let file = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if file >= 0 { close(file) }
    }

    /// Waits; returns whether a file was closed.
    func wait(milliseconds: Int32) -> Bool {
        // poll ignores negative descriptors.
        var file = pollfd(fd: events, events: Int16(POLLIN), revents: 0)
        guard poll(&file, 1, milliseconds) > 0 else { return false }
        var told = [UInt8](repeating: 0, count: 4096)
        while read(events, &told, told.count) > 0 {}
        return true
    }
}
#else
/// Lets a thread look at the leases 50 times a second, since only Linux has inotify. Waiters learn up to 20 ms late that
/// a lease has ended, and cost some processor time.
final class LeaseAlarm: Sendable {
    init(_ path: String) {}

    /// Does nothing: the thread will look soon.
    func ring() {}

    /// Waits for 20 ms at most; returns false.
    func wait(milliseconds: Int32) -> Bool {
        poll(nil, 0, min(milliseconds, 20))
        return false
    }
}
#endif
