/// A sum over a body's bytes that tells a damaged body from a whole one; no protection against forgery.
///
/// A Fletcher sum over eight lanes of 64 bits: each lane keeps the sum of its words and the sum of those sums, so a
/// changed, zeroed or displaced word shows. It costs no more than reading the bytes once. Bodies of different lengths
/// are told apart by their lengths.
struct BodyChecksum {
    /// The sum, as it is kept in a row.
    let value: Int64

    /// Sums up bytes.
    init(of bytes: [UInt8]) {
        value = bytes.withUnsafeBytes { bytes in
            var sums = SIMD8<UInt64>(repeating: 0x9e37_79b9_7f4a_7c15)
            var sumsOfSums = SIMD8<UInt64>.zero
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
            var result = UInt64(bytes.count)
            for lane in 0..<8 {
                result = (result ^ sums[lane]) &* 0xff51_afd7_ed55_8ccd
                result = ((result ^ (result >> 33)) ^ sumsOfSums[lane]) &* 0xc4ce_b9fe_1a85_ec53
                result ^= result >> 29
            }
            return Int64(bitPattern: result)
        }
    }
}
