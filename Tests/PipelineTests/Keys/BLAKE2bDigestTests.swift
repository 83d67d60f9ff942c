import PipelineTesting
import Testing

@testable import Pipeline

@Suite("Digests are BLAKE2b-256 (RFC 7693)")
struct DigestTests {
    /// The digests of `(i * 7 + length) % 251`, made by another implementation.
    private static let vectors: [(length: Int, digest: String)] = [
        (0, "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8"),
        (1, "ee155ace9c40292074cb6aff8c9ccdd273c81648ff1149ef36bcea6ebb8a3e25"),
        (63, "355584921c449e31d1650c17679de79f3dc765db894691743e7ed90aa88f7aa9"),
        (64, "3778f3d6906c7d78600bda78d279d32937f61c6aa0b14cf4ca3b2a4b81e4cfd1"),
        (65, "c1f029a4c2a448defc0d4df77a4a28a1ebf44f21ba687b7f2c67feb4f9618a20"),
        (127, "1c171e998aff7ddd899783610668504f26fe61fbfacc78e48c4ea80eecc1f866"),
        (128, "685b73b75dc1b6556038ef8fdad4b2ce90982353724a24f7dc28b176a2a97bf2"),
        (129, "0c537bbbdad527a580c5b73f46782f7301dbf54a8626ec3c3042d7d7a336ca8e"),
        (255, "d7ef1419c00bbf66abbd4dafb182f59039006cb143372ad5d067059a850ed2e0"),
        (256, "cd4f5f042c7b0f98e69a08af876a9c690ec8608de64f5df79e2120aad6344ae8"),
        (257, "ddd6c2e1515246b0ee2bffeb62d829a3712ae811d6bbd29631071f899cbfe962"),
        (1000, "c6c87f8729c7510dafb7a82884256a61bd63a33aa2506de9b5533646e476405c"),
    ]

    private static func message(_ length: Int) -> [UInt8] { (0..<length).map { UInt8(($0 * 7 + length) % 251) } }

    @Test("A message of any length has the digest that others find", arguments: vectors)
    func vector(length: Int, digest: String) {
        #expect(BLAKE2bDigest(of: Self.message(length)).description == digest)
        #expect(BLAKE2bDigest(of: AnySequence(Self.message(length))).description == digest)
    }

    @Test("The vector of RFC 7693's message, \"abc\"")
    func vectorRFC() {
        #expect(
            BLAKE2bDigest(of: "abc").description == "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319")
    }

    @Test("It doesn't matter in which pieces a message comes", arguments: vectors, [1, 7, 64, 127, 128, 129, 500])
    func pieces(vector: (length: Int, digest: String), piece: Int) {
        var hash = BLAKE2b()
        var rest = Self.message(vector.length)[...]
        while !rest.isEmpty {
            hash.update(Array(rest.prefix(piece)))
            rest = rest.dropFirst(piece)
        }
        #expect(hash.finalize().description == vector.digest)
    }

    @Test("Texts that only differ in where one ends have different digests")
    func textsOnly() {
        func digest(_ texts: String...) -> BLAKE2bDigest {
            var hash = BLAKE2b()
            for text in texts { hash.update(text) }
            return hash.finalize()
        }
        let digests = [digest("ab", "c"), digest("a", "bc"), digest("abc"), digest("a", "b", "c"), digest("", "abc")]
        #expect(Set(digests).count == digests.count)
        #expect(digest("a\0b") != digest("a", "b"))
    }

    @Test("Its bytes make it again")
    func bytesMake() throws {
        let digest = BLAKE2bDigest(of: "cat")
        #expect(digest.bytes.count == 32)
        #expect(BLAKE2bDigest(bytes: digest.bytes) == digest)
        #expect(BLAKE2bDigest(bytes: digest.bytes.reversed()) != digest)
        #expect(
            digest.description == digest.bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
        )
    }

    @Test("Its digits make it again")
    func digitsMake() throws {
        let digest = BLAKE2bDigest(of: "cat")
        let digits = digest.description
        #expect(BLAKE2bDigest(hex: digits) == digest)
        #expect(BLAKE2bDigest(hex: digits)?.bytes == digest.bytes)
        #expect(digest.number == UInt64(digits.prefix(16), radix: 16))
        for other in ["", String(digits.dropLast()), digits + "0", "g" + digits.dropFirst(), digits.uppercased()] {
            #expect(BLAKE2bDigest(hex: other) == nil, "\(other)")
        }
    }

    @Test("The bytes of any collection make it")
    func bytesAny() {
        let digest = BLAKE2bDigest(of: "cat")
        #expect(BLAKE2bDigest(bytes: AnyCollection(digest.bytes)) == digest)
        #expect(BLAKE2bDigest(bytes: ([0] + digest.bytes)[1...]) == digest)
    }

    @Test("Any other number of bytes makes none", arguments: [0, 31, 33])
    func wrongLength(count: Int) { #expect(BLAKE2bDigest(bytes: [UInt8](repeating: 1, count: count)) == nil) }
}
