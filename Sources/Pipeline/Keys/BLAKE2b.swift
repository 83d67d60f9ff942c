/// BLAKE2b with a digest of 32 bytes and no key (RFC 7693).
///
/// A memory hit has a microsecond for everything and must not allocate for its key. One block of 128 bytes holds most
/// URLs. The rounds are written out in single variables, which the compiler keeps in registers; with tables they take
/// four times as long.
struct BLAKE2b {
    private var low = SIMD4<UInt64>(
        0x6a09_e667_f3bc_c908 ^ 0x0101_0020, 0xbb67_ae85_84ca_a73b, 0x3c6e_f372_fe94_f82b, 0xa54f_f53a_5f1d_36f1)
    private var high = SIMD4<UInt64>(
        0x510e_527f_ade6_82d1, 0x9b05_688c_2b3e_6c1f, 0x1f83_d9ab_fb41_bd6b, 0x5be0_cd19_137e_2179)
    private var block = (SIMD8<UInt64>(), SIMD8<UInt64>())
    private var filled = 0
    private var total: UInt64 = 0

    /// Takes more of the message.
    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        var offset = 0
        while offset < bytes.count {
            if filled == 128 { compress(last: false) }
            let taken = min(128 - filled, bytes.count - offset)
            let place = filled
            withUnsafeMutableBytes(of: &block) { block in
                block.baseAddress?.advanced(by: place).copyMemory(from: start.advanced(by: offset), byteCount: taken)
            }
            filled += taken
            offset += taken
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

    /// Ends the message and returns its digest.
    consuming func finalize() -> BLAKE2bDigest {
        compress(last: true)
        return BLAKE2bDigest(words: low)
    }

    private mutating func compress(last: Bool) {
        total += UInt64(filled)
        let (m0, m1, m2, m3) = (block.0[0], block.0[1], block.0[2], block.0[3])
        let (m4, m5, m6, m7) = (block.0[4], block.0[5], block.0[6], block.0[7])
        let (m8, m9, m10, m11) = (block.1[0], block.1[1], block.1[2], block.1[3])
        let (m12, m13, m14, m15) = (block.1[4], block.1[5], block.1[6], block.1[7])
        var state = State(
            v0: low[0], v1: low[1], v2: low[2], v3: low[3], v4: high[0], v5: high[1], v6: high[2], v7: high[3],
            v12: 0x510e_527f_ade6_82d1 ^ total, v14: last ? ~0x1f83_d9ab_fb41_bd6b : 0x1f83_d9ab_fb41_bd6b)
        state.round(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15)
        state.round(m14, m10, m4, m8, m9, m15, m13, m6, m1, m12, m0, m2, m11, m7, m5, m3)
        state.round(m11, m8, m12, m0, m5, m2, m15, m13, m10, m14, m3, m6, m7, m1, m9, m4)
        state.round(m7, m9, m3, m1, m13, m12, m11, m14, m2, m6, m5, m10, m4, m0, m15, m8)
        state.round(m9, m0, m5, m7, m2, m4, m10, m15, m14, m1, m11, m12, m6, m8, m3, m13)
        state.round(m2, m12, m6, m10, m0, m11, m8, m3, m4, m13, m7, m5, m15, m14, m1, m9)
        state.round(m12, m5, m1, m15, m14, m13, m4, m10, m0, m7, m6, m3, m9, m2, m8, m11)
        state.round(m13, m11, m7, m14, m12, m1, m3, m9, m5, m0, m15, m4, m8, m6, m2, m10)
        state.round(m6, m15, m14, m9, m11, m3, m0, m8, m12, m2, m13, m7, m1, m4, m10, m5)
        state.round(m10, m2, m8, m4, m7, m6, m1, m5, m15, m11, m9, m14, m3, m12, m13, m0)
        state.round(m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15)
        state.round(m14, m10, m4, m8, m9, m15, m13, m6, m1, m12, m0, m2, m11, m7, m5, m3)
        low ^= SIMD4(state.v0 ^ state.v8, state.v1 ^ state.v9, state.v2 ^ state.v10, state.v3 ^ state.v11)
        high ^= SIMD4(state.v4 ^ state.v12, state.v5 ^ state.v13, state.v6 ^ state.v14, state.v7 ^ state.v15)
        block = (SIMD8(), SIMD8())
        filled = 0
    }
}

/// The working vector of the compression function F (RFC 7693 section 3.2).
private struct State {
    var v0, v1, v2, v3, v4, v5, v6, v7: UInt64
    var v8: UInt64 = 0x6a09_e667_f3bc_c908
    var v9: UInt64 = 0xbb67_ae85_84ca_a73b
    var v10: UInt64 = 0x3c6e_f372_fe94_f82b
    var v11: UInt64 = 0xa54f_f53a_5f1d_36f1
    var v12: UInt64
    var v13: UInt64 = 0x9b05_688c_2b3e_6c1f
    var v14: UInt64
    var v15: UInt64 = 0x5be0_cd19_137e_2179

    /// One round, with the message's words in its order.
    @inline(__always)
    mutating func round(
        _ m0: UInt64, _ m1: UInt64, _ m2: UInt64, _ m3: UInt64, _ m4: UInt64, _ m5: UInt64, _ m6: UInt64,
        _ m7: UInt64, _ m8: UInt64, _ m9: UInt64, _ m10: UInt64, _ m11: UInt64, _ m12: UInt64, _ m13: UInt64,
        _ m14: UInt64, _ m15: UInt64
    ) {
        mix(&v0, &v4, &v8, &v12, m0, m1)
        mix(&v1, &v5, &v9, &v13, m2, m3)
        mix(&v2, &v6, &v10, &v14, m4, m5)
        mix(&v3, &v7, &v11, &v15, m6, m7)
        mix(&v0, &v5, &v10, &v15, m8, m9)
        mix(&v1, &v6, &v11, &v12, m10, m11)
        mix(&v2, &v7, &v8, &v13, m12, m13)
        mix(&v3, &v4, &v9, &v14, m14, m15)
    }
}

/// The mixing function G (RFC 7693 section 3.1).
@inline(__always)
private func mix(
    _ a: inout UInt64, _ b: inout UInt64, _ c: inout UInt64, _ d: inout UInt64, _ x: UInt64, _ y: UInt64
) {
    a = a &+ b &+ x
    d = rotate(d ^ a, 32)
    c = c &+ d
    b = rotate(b ^ c, 24)
    a = a &+ b &+ y
    d = rotate(d ^ a, 16)
    c = c &+ d
    b = rotate(b ^ c, 63)
}

@inline(__always)
private func rotate(_ x: UInt64, _ by: UInt64) -> UInt64 { (x &>> by) | (x &<< (64 &- by)) }
