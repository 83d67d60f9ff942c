import LibC
import Pipeline

/// The lease of a source: a lock on a position of a file, which the kernel releases when the process ends, however it
/// ends.
///
/// The lock belongs to the open file, so it works between threads of one process as well as between processes. The file
/// also counts, for groups of sources, how many leases were given back, so that waiters can tell a holder that was done
/// from one that died.
final class LeaseFile: Sendable {
    /// Where a source's lock is, and where its ends are counted.
    struct Place: Sendable {
        let lock: Int64
        let count: Int64

        /// Sources share a lock only by chance, and a count rarely. That only costs a wait or a second fetch.
        init(_ name: String) {
            let word = BLAKE2bDigest(of: name).bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
            lock = Int64(word >> 2)
            count = Int64(word & 0x3fff)
        }
    }

    private let file: Int32
    private let place: Place
    private let slot: LeaseSlot

    /// Opens a file of leases, and makes it if it is missing.
    init(_ path: String, _ place: Place, in slot: LeaseSlot) throws(FileError) {
        self.slot = slot
        file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard file >= 0 else { throw FileError("open \(path)") }
        self.place = place
    }

    deinit { close(file) }

    /// Takes the lease; returns false if it is held elsewhere.
    func take() -> Bool { set(Int32(F_WRLCK)) }

    /// The number of leases given back at this place, modulo 256.
    var ends: UInt8 {
        var count: UInt8 = 0
        _ = pread(file, &count, 1, off_t(place.count))
        return count
    }

    /// Gives the lease back.
    func giveBack() {
        // In this order, so that a waiter that finds it free knows that its holder was done.
        var count = ends &+ 1
        _ = pwrite(file, &count, 1, off_t(place.count))
        _ = set(Int32(F_UNLCK))
    }

    private func set(_ type: Int32) -> Bool {
        var lock = flock()
        lock.l_type = Int16(type)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = off_t(place.lock)
        lock.l_len = 1
        return withUnsafeMutablePointer(to: &lock) { fcntl(file, setOpenFileLock, UnsafeMutableRawPointer($0)) } == 0
    }
}

#if canImport(Darwin)
/// `F_OFD_SETLK`, which macOS has, but its headers don't declare.
private let setOpenFileLock: Int32 = 90
#else
/// `F_OFD_SETLK`, which Linux's C libraries declare only for GNU programs.
private let setOpenFileLock: Int32 = 37
#endif
