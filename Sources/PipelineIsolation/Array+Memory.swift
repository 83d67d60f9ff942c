extension [UInt8] {
    /// Copies memory in one go, in debug builds too.
    init(copying memory: UnsafeRawBufferPointer) {
        self.init(unsafeUninitializedCapacity: memory.count) { buffer, count in
            UnsafeMutableRawBufferPointer(buffer).copyMemory(from: memory)
            count = memory.count
        }
    }
}
