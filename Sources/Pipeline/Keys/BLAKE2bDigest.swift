/// A digest of 32 bytes, by which caches are keyed.
///
/// It is BLAKE2b-256 (RFC 7693), so two different texts never share a digest, even if an attacker tries.
public struct BLAKE2bDigest: Sendable, Hashable {
    // Four words, never a vector: in a release build of Swift 6.3 a value aligned to 32 bytes that lives across an
    // `await` overruns its function's frame; and a vector's padding would make copying keys slower.
    private let word0, word1, word2, word3: UInt64

    init(words: SIMD4<UInt64>) { (word0, word1, word2, word3) = (words[0], words[1], words[2], words[3]) }

    /// The first half: enough to tell one program's few lists and headers apart.
    var half: (UInt64, UInt64) { (word0, word1) }

    /// Returns this digest with its last quarter replaced by the first quarter of another.
    func ending(in other: BLAKE2bDigest) -> BLAKE2bDigest {
        BLAKE2bDigest(words: SIMD4(word0, word1, word2, other.word0))
    }

    /// Returns this digest with the last quarter of another.
    package func withEnd(of other: BLAKE2bDigest) -> BLAKE2bDigest {
        BLAKE2bDigest(words: SIMD4(word0, word1, word2, other.word3))
    }

    /// The digest of bytes.
    public init(of bytes: some Sequence<UInt8>) {
        var hash = BLAKE2b()
        if bytes.withContiguousStorageIfAvailable({ hash.update(UnsafeRawBufferPointer($0)) }) == nil {
            hash.update(Array(bytes))
        }
        self = hash.finalize()
    }

    /// The digest of a text's UTF-8 bytes.
    public init(of text: String) { self.init(of: text.utf8) }

    /// Restores a digest from its ``bytes``; `nil` unless there are 32.
    public init?(bytes: some Collection<UInt8>) {
        // Caches and journals read one for each row, so no byte passes through a generic iterator.
        let words = Array(bytes).withUnsafeBytes { bytes in
            bytes.count == 32
                ? [0, 8, 16, 24].map { UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: $0, as: UInt64.self)) }
                : nil
        }
        guard let words else { return nil }
        self.init(words: SIMD4(words))
    }

    /// Restores a digest from its ``description``; `nil` unless there are 64 digits, in lower case.
    package init?(hex: String) {
        var words = SIMD4<UInt64>()
        var count = 0
        for digit in hex.utf8 {
            let value: UInt8
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = digit - UInt8(ascii: "a") + 10
            default: return nil
            }
            guard count < 64 else { return nil }
            words[count / 16] = words[count / 16] << 4 | UInt64(value)
            count += 1
        }
        guard count == 64 else { return nil }
        self.init(words: SIMD4(words[0].byteSwapped, words[1].byteSwapped, words[2].byteSwapped, words[3].byteSwapped))
    }

    /// The first 16 digits of the ``description`` as a number.
    package var number: UInt64 { word0.byteSwapped }

    /// The 32 bytes.
    public var bytes: [UInt8] {
        let words = SIMD4(word0, word1, word2, word3)
        return (0..<32).map { UInt8(truncatingIfNeeded: words[$0 / 8] >> UInt64($0 % 8 * 8)) }
    }

    /// Hashes the first eight bytes: a digest is evenly distributed already.
    public func hash(into hasher: inout Hasher) { hasher.combine(word0) }
}

extension BLAKE2bDigest: Codable {
    /// Reads ``bytes``.
    /// - Throws: `DecodingError` unless there are 32.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let digest = BLAKE2bDigest(bytes: try container.decode([UInt8].self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "A digest has 32 bytes.")
        }
        self = digest
    }

    /// Writes ``bytes``.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(bytes)
    }
}

extension BLAKE2bDigest: CustomStringConvertible {
    /// 64 hexadecimal digits.
    public var description: String {
        let words = SIMD4(word0.byteSwapped, word1.byteSwapped, word2.byteSwapped, word3.byteSwapped)
        return String(unsafeUninitializedCapacity: 64) { digits in
            for index in 0..<64 {
                let value = UInt8(truncatingIfNeeded: words[index / 16] >> UInt64(60 - index % 16 * 4)) & 15
                digits[index] = value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
            }
            return 64
        }
    }
}
