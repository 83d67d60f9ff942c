import Digests
import Pipeline

/// What Redis holds instead of bytes that are in an ``S3Blobs``: their digest, by which the object is named, and their
/// number.
struct BlobReference: Sendable, Hashable {
    /// The first byte, which begins no ``PackedImage``. A release that doesn't know it reads a reference as a miss.
    private static let version: UInt8 = 0xB1
    /// The bytes of a reference.
    private static let length = 41

    /// The SHA-256 of the bytes.
    let digest: [UInt8]
    /// The number of bytes.
    let count: Int

    /// The name of the object.
    var name: String { SHA256.hexadecimal(digest) }

    /// Refers to bytes.
    init(to bytes: [UInt8]) {
        digest = SHA256.digest(bytes)
        count = bytes.count
    }

    /// Reads a reference; `nil` if the bytes aren't one.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.length, bytes[0] == Self.version else { return nil }
        digest = Array(bytes[1..<33])
        count = Int(clamping: bytes[33...].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    /// The bytes that Redis holds.
    var bytes: [UInt8] {
        let number = UInt64(count)
        return [Self.version] + digest + (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * $0)) }
    }
}
