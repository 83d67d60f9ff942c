extension [UInt8] {
    /// Copies memory in one go, in debug builds too.
    init(copying memory: UnsafeRawBufferPointer) {
        // An array made with no capacity writes to the memory that all empty arrays share.
        guard !memory.isEmpty else {
            self = []
            return
        }
        self.init(unsafeUninitializedCapacity: memory.count) { buffer, count in
            UnsafeMutableRawBufferPointer(buffer).copyMemory(from: memory)
            count = memory.count
        }
    }
}
