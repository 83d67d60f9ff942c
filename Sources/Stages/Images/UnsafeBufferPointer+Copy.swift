extension UnsafeBufferPointer<UInt8> {
    /// The bytes as an array, copied some megabytes at a time: a large picture takes long even to copy.
    /// - Throws: `CancellationError`.
    func copied(_ cancellation: WorkCancellation) throws -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(count)
        for start in stride(from: 0, to: count, by: 4 << 20) {
            try cancellation.check()
            result.append(contentsOf: self[start..<Swift.min(count, start + 4 << 20)])
        }
        return result
    }
}
