/// The identity of a list's final product: its source, its size, the stages that make it, and the request's headers.
///
/// It holds the ``SourceKey``, so that all variants of a source can be removed together. It is not a `SourceKey`, so a
/// thumbnail can't be stored under its original's key.
public struct VariantKey: Sendable, Hashable {
    /// The source that the product was made from.
    public let source: SourceKey
    // The rest is not digested: a memory hit has no time for a second digest.
    private let width: Int32
    private let height: Int32
    private let list0, list1, headers0, headers1: UInt64

    /// Makes the key of the product that a list with the signature `list` makes for a request.
    public init(source: SourceKey, request: borrowing ImageRequest, list: BLAKE2bDigest) {
        self.source = source
        // -1 means no box, and differs from every size of a box.
        let box = request.maxPixelSize?.withoutZero
        width = box.map { Int32(clamping: max(0, $0.width)) } ?? -1
        height = box.map { Int32(clamping: max(0, $0.height)) } ?? -1
        var half = list.half
        // Another number of frames counts as another list. The factor is odd, so no two numbers collide.
        if let frames = request.frames { half.0 &+= UInt64(bitPattern: Int64(max(1, frames))) &* 0x9E37_79B9_7F4A_7C15 }
        switch request.gamut {
        case nil: break
        case .sRGB: half.1 &+= 0x9E37_79B9_7F4A_7C15
        case .source: half.1 &-= 0x9E37_79B9_7F4A_7C15
        }
        switch request.depth {
        case nil: break
        case .eight: half.1 &+= 0xC2B2_AE3D_27D4_EB4F
        case .source: half.1 &-= 0xC2B2_AE3D_27D4_EB4F
        }
        switch request.gainMap {
        case nil: break
        case .keep: half.1 &+= 0x1656_67B1_9E37_79F9
        case .drop: half.1 &-= 0x1656_67B1_9E37_79F9
        case .apply: half.1 &+= 0x85EB_CA77_C2B2_AE63
        }
        (list0, list1) = half
        (headers0, headers1) = request.headersDigest?.half ?? (0, 0)
    }

    /// A digest of the request's headers; equal for all requests without any.
    package var headers: SIMD2<UInt64> { SIMD2(headers0, headers1) }

    /// Whether another key differs from this one in its size at most.
    public func isAlike(_ other: VariantKey) -> Bool {
        source == other.source && (list0, list1) == (other.list0, other.list1)
            && (headers0, headers1) == (other.headers0, other.headers1)
    }

    /// The key that stores keep products under. Keys that differ in size alone share the first 16 bytes; the size follows.
    /// The digest covers a version, which a release increments if its stages make other pixels under the same
    /// signatures.
    public var digest: BLAKE2bDigest {
        var hash = BLAKE2b()
        hash.update(Self.version)
        hash.update(source.digest.bytes)
        for word in [list0, list1, headers0, headers1] { hash.update(word) }
        let (shared0, shared1) = hash.finalize().half
        let size = [width, height].map { UInt64(bitPattern: Int64($0)) }
        return BLAKE2bDigest(words: SIMD4(shared0, shared1, size[0], size[1]))
    }

    /// How many bytes of ``digest`` keys that are alike share.
    package static let sharedBytes = 16

    /// Part of ``digest``.
    package static let version: UInt64 = 3

    /// Hashes what differs between most variants; the rest is only compared.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(source)
        hasher.combine(list0 ^ headers0 ^ UInt64(UInt32(bitPattern: width)))
    }
}

extension VariantKey: CustomStringConvertible {
    /// The source's key, and short forms of the size, the list and the headers.
    public var description: String {
        let box = width < 0 ? "native" : "\(width)x\(height)"
        let headers = headers0 == 0 ? "" : "/" + String(headers0, radix: 16)
        return "\(source)/\(box)/" + String(list0, radix: 16) + headers
    }
}
