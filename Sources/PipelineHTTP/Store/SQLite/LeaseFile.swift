import Glibc
import Pipeline

/// One process's hand on the lease of a source: a lock on a place of a file, which the kernel takes back when the process
/// ends, however it ends.
///
/// The lock belongs to the open file, so it holds between threads of one process as between processes. Next to it the file
/// counts, for some sources together, how many leases were given back: who waited can tell a holder that was done from
/// one that died.
final class LeaseFile: Sendable {
    /// Where a source's lock is, and where its ends are counted.
    struct Place: Sendable {
        let lock: Int64
        let count: Int64

        /// Sources share a lock by chance only, and a count rarely; that costs a wait or a second fetch, no more.
        init(_ key: SourceKey, headers: SIMD2<UInt64>) {
            // A digest is evenly spread already.
            let word = key.digest.bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } ^ headers.x
            lock = Int64(word >> 2)
            count = Int64(word & 0x3fff)
        }
    }

    private let file: Int32
    private let place: Place
    private let slot: LeaseSlot

    /// Opens a folder's file of leases, making it where it is missing.
    init(_ folder: CacheFolder, _ place: Place, in slot: LeaseSlot) throws(FileError) {
        self.slot = slot
        file = open(folder.leasesPath, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard file >= 0 else { throw FileError("open \(folder.leasesPath)") }
        self.place = place
    }

    deinit { close(file) }

    /// Takes the lease, if nobody has it.
    func take() -> Bool { set(Int32(F_WRLCK)) }

    /// How many leases were given back at this place, in a number that comes round.
    var ends: UInt8 {
        var count: UInt8 = 0
        _ = pread(file, &count, 1, off_t(place.count))
        return count
    }

    /// Gives the lease back.
    func giveBack() {
        // In this order: who sees that it is free sees that its holder was done.
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

/// `F_OFD_SETLK`, which Glibc shows to GNU programs only.
private let setOpenFileLock: Int32 = 37
