extension BinaryInteger {
    /// Its lowest `count` bytes, the highest of them first.
    func bigEndian(_ count: Int) -> [UInt8] { littleEndian(count).reversed() }

    /// Its lowest `count` bytes, the lowest first.
    func littleEndian(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: self >> (8 * $0)) }
    }
}
