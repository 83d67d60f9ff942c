#if AVIF || HEIC
/// Reads big-endian numbers of any number of bits; `nil` past the end.
struct BitReader {
    private let bytes: ArraySlice<UInt8>
    private var position = 0

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    /// The next `count` bits, 32 at most, as a number.
    mutating func bits(_ count: Int) -> Int? {
        guard count <= 32, position + count <= bytes.count * 8 else { return nil }
        var value = 0
        for _ in 0..<count {
            let byte = bytes[bytes.startIndex + position / 8]
            value = value << 1 | Int(byte >> (7 - position % 8) & 1)
            position += 1
        }
        return value
    }

    /// The next bit.
    mutating func flag() -> Bool? { bits(1).map { $0 == 1 } }

    /// Skips bits.
    mutating func skip(_ count: Int) { position += count }

    /// Reads an exponential Golomb code: `ue(v)` in HEVC (ITU-T H.265 section 9.2), `uvlc()` in AV1.
    mutating func exponentialGolomb() -> Int? {
        // No valid code has more leading zeros.
        for zeros in 0..<32 {
            guard let one = flag() else { return nil }
            if one { return bits(zeros).map { (1 << zeros) - 1 + $0 } }
        }
        return nil
    }
}
#endif
