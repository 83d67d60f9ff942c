/// A checksum of a body's bytes that detects damage; no protection against forgery.
///
/// A Fletcher sum over eight lanes of 64 bits: each lane keeps the sum of its words and the sum of those sums, so it
/// detects changed, zeroed and displaced words. It costs no more than reading the bytes once. The length is included.
package struct BodyChecksum {
    // Stored as numbers, though they are processed as vectors: a value that is aligned to more than 16 bytes and lives
    // across a suspension point overruns its async function's frame in a release build (seen with Swift 6.3).
    private var sums = InlineArray<8, UInt64>(repeating: 0x9e37_79b9_7f4a_7c15)
    private var sumsOfSums = InlineArray<8, UInt64>(repeating: 0)
    private var count = 0

    /// Starts a sum.
    init() {}

    /// Sums up bytes.
    package init(of bytes: [UInt8]) { bytes.withUnsafeBytes { update($0) } }

    /// Adds more of the body. The length of every part but the last is a multiple of 64 bytes.
    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var (sums, sumsOfSums) = (SIMD8(lanes: self.sums), SIMD8(lanes: self.sumsOfSums))
        let whole = bytes.count & ~63
        for offset in stride(from: 0, to: whole, by: 64) {
            sums &+= bytes.loadUnaligned(fromByteOffset: offset, as: SIMD8<UInt64>.self)
            sumsOfSums &+= sums
        }
        if whole < bytes.count {
            var rest = SIMD8<UInt64>.zero
            withUnsafeMutableBytes(of: &rest) {
                $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[whole...]))
            }
            sums &+= rest
            sumsOfSums &+= sums
        }
        for lane in 0..<8 { (self.sums[lane], self.sumsOfSums[lane]) = (sums[lane], sumsOfSums[lane]) }
        count += bytes.count
    }

    /// The checksum, as it is stored in a row.
    package var value: Int64 {
        var result = UInt64(count)
        for lane in 0..<8 {
            result = (result ^ sums[lane]) &* 0xff51_afd7_ed55_8ccd
            result = ((result ^ (result >> 33)) ^ sumsOfSums[lane]) &* 0xc4ce_b9fe_1a85_ec53
            result ^= result >> 29
        }
        return Int64(bitPattern: result)
    }
}

extension SIMD8<UInt64> {
    fileprivate init(lanes: InlineArray<8, UInt64>) {
        self.init()
        for lane in 0..<8 { self[lane] = lanes[lane] }
    }
}
