import CSandbox
import LibC
import Pipeline

/// Memory that the program shares with one worker. It is mapped once and reused for every image.
///
/// Its pages exist only once they are written, so a slab may be as large as the largest image.
package struct Slab: Sendable {
    /// How many bytes it has.
    let count: Int
    /// Where it is mapped, as an address: pointers aren't `Sendable`. The mapping lives until ``unmap()``.
    private let address: UInt

    /// Maps shared memory.
    /// - Throws: ``SystemError``.
    init(memory: Int32, count: Int, isWritable: Bool) throws(SystemError) {
        let mapping = mmap(nil, count, isWritable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, memory, 0)
        guard let mapping, mapping != MAP_FAILED else { throw SystemError("map shared memory", errno) }
        self.count = count
        address = UInt(bitPattern: mapping)
    }

    /// The slab's bytes.
    package var bytes: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: UnsafeMutableRawPointer(bitPattern: address), count: count)
    }

    /// Returns the part that a message names.
    /// - Throws: `Message.Malformed` if it doesn't lie in the slab.
    func part(at offset: Int, count: Int) throws(Message.Malformed) -> UnsafeRawBufferPointer {
        guard offset >= 0, count >= 0, offset <= self.count, count <= self.count - offset else {
            throw Message.Malformed("\(count) bytes at \(offset) exceed the slab's \(self.count)")
        }
        return UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[offset..<offset + count])
    }

    /// Overwrites the first bytes with zeros, so that the next image's worker finds nothing of this one.
    ///
    /// What lies beyond ``WorkerProcess/Sizes/kept`` goes back to the system.
    func clear(_ count: Int) {
        if let start = bytes.baseAddress { memset(start, 0, max(0, min(count, WorkerProcess.Sizes.kept, self.count))) }
        if count > WorkerProcess.Sizes.kept { release() }
    }

    /// Gives memory beyond ``WorkerProcess/Sizes/kept`` back to the system. Its content is zero afterwards.
    func release() {
        #if LINUX
        let kept = WorkerProcess.Sizes.kept
        let page = Int(sysconf(Int32(_SC_PAGESIZE)))
        let start = (kept + page - 1) / page * page
        guard start < count else { return }
        madvise(bytes.baseAddress?.advanced(by: start), count - start, MADV_REMOVE)
        #endif
    }

    func unmap() { munmap(bytes.baseAddress, count) }
}

/// A call of the system that failed.
struct SystemError: Error {
    let number: Int32
    private let action: String

    init(_ action: String, _ number: Int32) {
        self.action = action
        self.number = number
    }

    /// The error of the work that needed the call.
    var refusal: LoadError {
        // A container's profile refuses calls by these.
        let cure =
            [EPERM, ENOSYS].contains(number)
            ? "Use a newer kernel, or a container profile that allows it."
            : "Raise the limit that it names, or use fewer workers."
        return LoadError(
            .refused, subject: "",
            "Images can't be decoded in confined processes. The system refused to \(action) "
                + "(\(String(cString: strerror(number)))). \(cure)")
    }
}

/// Throws unless a call of `CSandbox` returned 0.
func check(_ action: String, _ number: Int32) throws(SystemError) {
    guard number == 0 else { throw SystemError(action, number) }
}
