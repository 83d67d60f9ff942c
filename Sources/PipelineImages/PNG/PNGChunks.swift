#if PNG
import CDeflate
import Pipeline

/// A chunk of a PNG file (ISO/IEC 15948 section 5.3).
struct PNGChunk {
    /// The kinds of chunks that are read, by the four letters of their names.
    enum Kind: UInt32 {
        case header = 0x4948_4452  // IHDR
        case palette = 0x504c_5445  // PLTE
        case transparency = 0x7452_4e53  // tRNS
        case pixels = 0x4944_4154  // IDAT
        case end = 0x4945_4e44  // IEND
        case exif = 0x6558_4966  // eXIf
        case profile = 0x6943_4350  // iCCP
        case codedColors = 0x6349_4350  // cICP
        case text = 0x6954_5874  // iTXt
        case animation = 0x6163_544c  // acTL
        case frame = 0x6663_544c  // fcTL
        case framePixels = 0x6664_4154  // fdAT
        case provenance = 0x6361_4258  // caBX
    }

    fileprivate let name: UInt32
    /// Its range in the file, including length and checksum.
    let whole: Range<Int>
    /// The range of its data.
    let body: Range<Int>

    /// Its name.
    var letters: String { String(decoding: UInt64(name).bigEndian(4), as: UTF8.self) }

    var kind: Kind? { Kind(rawValue: name) }

    /// Whether readers have to understand it: its name begins with a capital letter. Any other chunk is ignored if
    /// damaged.
    var isCritical: Bool { name & 0x2000_0000 == 0 }

    /// Whether its checksum is correct.
    func isWhole(in bytes: [UInt8]) -> Bool {
        let actual = bytes.withUnsafeBytes { bytes in
            let checked = UnsafeRawBufferPointer(rebasing: bytes[whole.lowerBound + 4..<body.upperBound])
            return libdeflate_crc32(0, checked.baseAddress, checked.count)
        }
        return bytes[...].number(at: body.upperBound, bytes: 4) == Int(actual)
    }
}

/// Iterates over the chunks of a PNG file.
struct PNGChunks {
    /// More chunks than any genuine file has. A file of 64 MB has some thousands.
    static let most = 100_000

    private let bytes: [UInt8]
    private let cancellation: WorkCancellation
    /// The offset of the next chunk. The first one follows the signature.
    private(set) var position = 8
    private var count = 0

    init(_ bytes: [UInt8], _ cancellation: WorkCancellation) {
        self.bytes = bytes
        self.cancellation = cancellation
    }

    /// Returns the next chunk; `nil` at the end, or if the chunk is cut off.
    /// - Throws: `undecodable` if there are more than ``most``; `CancellationError`.
    mutating func next() throws -> PNGChunk? {
        guard let length = bytes[...].number(at: position, bytes: 4),
            let name = bytes[...].number(at: position + 4, bytes: 4), length <= bytes.count - position - 12
        else { return nil }
        if count % 256 == 0 { try cancellation.check() }
        count += 1
        guard count <= Self.most else { throw PNGFile.damaged("it has more than \(Self.most) chunks") }
        let body = position + 8..<position + 8 + length
        defer { position = body.upperBound + 4 }
        return PNGChunk(
            name: UInt32(truncatingIfNeeded: name), whole: position..<body.upperBound + 4, body: body)
    }
}
#endif
