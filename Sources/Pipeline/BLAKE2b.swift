/// BLAKE2b with a digest of 32 bytes and no key (RFC 7693).
///
/// A memory hit has a microsecond for everything and may not allocate for its key; one block of 128 bytes holds most
/// URLs, and the four rows of the state fit the processor's vectors.
struct BLAKE2b {
    private var low = SIMD4<UInt64>(
        0x6a09_e667_f3bc_c908 ^ 0x0101_0020, 0xbb67_ae85_84ca_a73b, 0x3c6e_f372_fe94_f82b, 0xa54f_f53a_5f1d_36f1)
    private var high = SIMD4<UInt64>(
        0x510e_527f_ade6_82d1, 0x9b05_688c_2b3e_6c1f, 0x1f83_d9ab_fb41_bd6b, 0x5be0_cd19_137e_2179)
    private var block = InlineArray<16, UInt64>(repeating: 0)
    private var filled = 0
    private var total: UInt64 = 0

    /// Takes more of the message.
    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        while !rest.isEmpty {
            if filled == 128 { compress(last: false) }
            let taken = min(128 - filled, rest.count)
            let offset = filled
            withUnsafeMutableBytes(of: &block) { block in
                UnsafeMutableRawBufferPointer(rebasing: block[offset...]).copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: rest.prefix(taken)))
            }
            filled += taken
            rest = rest.dropFirst(taken)
        }
    }

    /// Takes more of the message.
    mutating func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes { update($0) } }

    /// Takes a text's length and its UTF-8 bytes, so that neighbouring texts can't run into each other.
    mutating func update(_ text: String) {
        var text = text
        text.withUTF8 {
            update(UInt64($0.count))
            update(UnsafeRawBufferPointer($0))
        }
    }

    /// Takes eight bytes.
    mutating func update(_ word: UInt64) { withUnsafeBytes(of: word.littleEndian) { update($0) } }

    /// Ends the message.
    consuming func finalize() -> Digest {
        compress(last: true)
        return Digest(words: low)
    }

    private mutating func compress(last: Bool) {
        total += UInt64(filled)
        let m = block
        var a = low
        var b = high
        var c = SIMD4<UInt64>(
            0x6a09_e667_f3bc_c908, 0xbb67_ae85_84ca_a73b, 0x3c6e_f372_fe94_f82b, 0xa54f_f53a_5f1d_36f1)
        var d = SIMD4<UInt64>(
            0x510e_527f_ade6_82d1 ^ total, 0x9b05_688c_2b3e_6c1f, 0x1f83_d9ab_fb41_bd6b, 0x5be0_cd19_137e_2179)
        if last { d[2] = ~d[2] }

        @inline(__always) func mix(_ x: SIMD4<UInt64>, _ y: SIMD4<UInt64>) {
            a = a &+ b &+ x
            d = rotate(d ^ a, 32)
            c = c &+ d
            b = rotate(b ^ c, 24)
            a = a &+ b &+ y
            d = rotate(d ^ a, 16)
            c = c &+ d
            b = rotate(b ^ c, 63)
        }
        // The message's words in the order of one round: columns' x and y, then diagonals' x and y.
        @inline(__always) func round(
            _ i0: Int, _ i1: Int, _ i2: Int, _ i3: Int, _ i4: Int, _ i5: Int, _ i6: Int, _ i7: Int,
            _ i8: Int, _ i9: Int, _ i10: Int, _ i11: Int, _ i12: Int, _ i13: Int, _ i14: Int, _ i15: Int
        ) {
            mix(SIMD4(m[i0], m[i2], m[i4], m[i6]), SIMD4(m[i1], m[i3], m[i5], m[i7]))
            b = SIMD4(b[1], b[2], b[3], b[0])
            c = SIMD4(c[2], c[3], c[0], c[1])
            d = SIMD4(d[3], d[0], d[1], d[2])
            mix(SIMD4(m[i8], m[i10], m[i12], m[i14]), SIMD4(m[i9], m[i11], m[i13], m[i15]))
            b = SIMD4(b[3], b[0], b[1], b[2])
            c = SIMD4(c[2], c[3], c[0], c[1])
            d = SIMD4(d[1], d[2], d[3], d[0])
        }
        round(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
        round(14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3)
        round(11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4)
        round(7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8)
        round(9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13)
        round(2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9)
        round(12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11)
        round(13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10)
        round(6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5)
        round(10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0)
        round(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
        round(14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3)

        low ^= a ^ c
        high ^= b ^ d
        block = InlineArray(repeating: 0)
        filled = 0
    }
}

@inline(__always)
private func rotate(_ x: SIMD4<UInt64>, _ by: UInt64) -> SIMD4<UInt64> { (x &>> by) | (x &<< (64 &- by)) }
