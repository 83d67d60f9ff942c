import Pipeline
import PipelineHTTP

/// A value of Redis with a checksum over it and its name: one that is damaged, cut off or another name's is a miss.
///
/// It detects accidents, and protects against nobody who can write to the server.
enum CheckedValue {
    /// The first byte, which begins no ``PackedImage``, ``PackedResponse`` or ``BlobReference``. A release that doesn't know it
    /// reads such a value as a miss.
    private static let version: UInt8 = 0xC1
    private static let length = 9

    /// Adds the checksum.
    static func seal(_ value: [UInt8], as name: String) -> [UInt8] {
        [version] + bytes(of: sum(value, name)) + value
    }

    /// Reads a value; `nil` unless it is what was sealed under this name.
    static func open(_ sealed: [UInt8], as name: String) -> [UInt8]? {
        guard sealed.count >= length, sealed[0] == version else { return nil }
        let value = Array(sealed[length...])
        return sealed[1..<length].elementsEqual(bytes(of: sum(value, name))) ? value : nil
    }

    /// The checksum of a body, which is kept in its head.
    static func sum(of body: [UInt8]) -> UInt64 { UInt64(bitPattern: BodyChecksum(of: body).value) }

    private static func sum(_ value: [UInt8], _ name: String) -> UInt64 {
        sum(of: value) ^ sum(of: Array(name.utf8)) &* 0x9e37_79b9_7f4a_7c15
    }

    private static func bytes(of number: UInt64) -> [UInt8] { withUnsafeBytes(of: number.littleEndian) { Array($0) } }
}

/// The head of a response as Redis holds it: sealed, with the checksum of the body's value.
struct CheckedHead {
    let head: StoredResponse
    let bodyLength: Int
    /// The checksum of the value that Redis holds as the body: the body itself, or a reference.
    let bodySum: UInt64

    /// Reads a head; `nil` if it is damaged, or of another version.
    init?(_ bytes: [UInt8], key: SourceKey, generation: Int64) {
        guard let value = CheckedValue.open(bytes, as: "\(key)"), value.count >= 8,
            let (head, length) = PackedResponse.unpack(Array(value[8...]), key: key, generation: generation)
        else { return nil }
        (self.head, bodyLength) = (head, length)
        bodySum = value[..<8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The bytes that Redis holds.
    static func bytes(_ response: StoredResponse, bodyLength: Int? = nil, bodySum: UInt64) -> [UInt8] {
        let sum = withUnsafeBytes(of: bodySum.littleEndian) { Array($0) }
        return CheckedValue.seal(sum + PackedResponse.pack(response, bodyLength: bodyLength), as: "\(response.key)")
    }
}
