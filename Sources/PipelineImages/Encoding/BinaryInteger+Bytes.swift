extension BinaryInteger {
    /// The lowest `count` bytes in big-endian order.
    func bigEndian(_ count: Int) -> [UInt8] { littleEndian(count).reversed() }

    /// The lowest `count` bytes in little-endian order.
    func littleEndian(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: self >> (8 * $0)) }
    }
}
