/// A digest of 32 bytes, by which caches are keyed.
///
/// It is BLAKE2b-256 (RFC 7693), so two different texts never share a digest, even if an attacker tries.
public struct Digest: Sendable, Hashable {
    // Four words, never a vector: in a release build of Swift 6.3 a value aligned to 32 bytes that lives across an
    // `await` overruns its function's frame; and a vector's padding would make copying keys slower.
    private let word0, word1, word2, word3: UInt64

    init(words: SIMD4<UInt64>) { (word0, word1, word2, word3) = (words[0], words[1], words[2], words[3]) }

    /// The first half: enough to tell one program's few lists and headers apart.
    var half: (UInt64, UInt64) { (word0, word1) }

    /// Returns this digest with its last quarter replaced by the first quarter of another.
    func ending(in other: Digest) -> Digest { Digest(words: SIMD4(word0, word1, word2, other.word0)) }

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
        guard bytes.count == 32 else { return nil }
        var words = SIMD4<UInt64>()
        for (index, byte) in bytes.enumerated() { words[index / 8] |= UInt64(byte) << UInt64(index % 8 * 8) }
        self.init(words: words)
    }

    /// The 32 bytes.
    public var bytes: [UInt8] {
        let words = SIMD4(word0, word1, word2, word3)
        return (0..<32).map { UInt8(truncatingIfNeeded: words[$0 / 8] >> UInt64($0 % 8 * 8)) }
    }

    /// Hashes the first eight bytes: a digest is evenly distributed already.
    public func hash(into hasher: inout Hasher) { hasher.combine(word0) }
}

extension Digest: Codable {
    /// Reads ``bytes``.
    /// - Throws: `DecodingError` unless there are 32.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let digest = Digest(bytes: try container.decode([UInt8].self)) else {
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

extension Digest: CustomStringConvertible {
    /// 64 hexadecimal digits.
    public var description: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
