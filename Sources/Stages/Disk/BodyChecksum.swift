/// A sum over a body's bytes that tells a damaged body from a whole one; no protection against forgery.
///
/// A Fletcher sum over eight lanes of 64 bits: each lane keeps the sum of its words and the sum of those sums, so a
/// changed, zeroed or displaced word shows. It costs no more than reading the bytes once. Bodies of different lengths
/// are told apart by their lengths.
struct BodyChecksum {
    // Kept as pairs, which are aligned to 16 bytes: a value with a larger alignment that lives across a suspension point
    // overruns its async function's frame in a release build (seen with Swift 6.3 and SIMD8 here).
    private var sums = InlineArray<4, SIMD2<UInt64>>(repeating: SIMD2(repeating: 0x9e37_79b9_7f4a_7c15))
    private var sumsOfSums = InlineArray<4, SIMD2<UInt64>>(repeating: .zero)
    private var count = 0

    /// Begins a sum.
    init() {}

    /// Sums up bytes.
    init(of bytes: [UInt8]) { bytes.withUnsafeBytes { update($0) } }

    /// Takes more of the body. Every part but the last has a multiple of 64 bytes.
    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        count += bytes.count
        let whole = bytes.count & ~63
        for offset in stride(from: 0, to: whole, by: 64) { add(bytes, at: offset) }
        guard whole < bytes.count else { return }
        var rest = InlineArray<4, SIMD2<UInt64>>(repeating: .zero)
        withUnsafeMutableBytes(of: &rest) { rest in
            rest.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[whole...]))
            add(UnsafeRawBufferPointer(rest), at: 0)
        }
    }

    @inline(__always)
    private mutating func add(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        for pair in 0..<4 {
            sums[pair] &+= bytes.loadUnaligned(fromByteOffset: offset + 16 * pair, as: SIMD2<UInt64>.self)
            sumsOfSums[pair] &+= sums[pair]
        }
    }

    /// The sum, as it is kept in a row.
    var value: Int64 {
        var result = UInt64(count)
        for lane in 0..<8 {
            result = (result ^ sums[lane / 2][lane % 2]) &* 0xff51_afd7_ed55_8ccd
            result = ((result ^ (result >> 33)) ^ sumsOfSums[lane / 2][lane % 2]) &* 0xc4ce_b9fe_1a85_ec53
            result ^= result >> 29
        }
        return Int64(bitPattern: result)
    }
}
