import Pipeline
extension UnsafeBufferPointer<UInt8> {
    /// The bytes as an array, copied some megabytes at a time.
    /// - Throws: `CancellationError`.
    func copied(_ cancellation: WorkCancellation) throws -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(count)
        try result.append(contentsOf: self, cancellation)
        return result
    }
}

extension [UInt8] {
    /// Appends some megabytes at a time: a large picture takes long even to copy.
    /// - Throws: `CancellationError`.
    mutating func append(contentsOf bytes: UnsafeBufferPointer<UInt8>, _ cancellation: WorkCancellation) throws {
        for start in stride(from: 0, to: bytes.count, by: 4 << 20) {
            try cancellation.check()
            append(contentsOf: bytes[start..<Swift.min(bytes.count, start + 4 << 20)])
        }
    }
}
