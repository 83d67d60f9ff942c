#if BMP
import Pipeline

/// The checked headers of a bitmap.
struct Bitmap {
    let size: PixelSize
    let isTopDown: Bool
    let bits: Int
    let isRunLength: Bool
    /// The offset of the pixels.
    let start: Int
    /// The ICC profile; empty if there is none.
    let profile: [UInt8]
    /// 256 colours, of which each pixel is an index; empty above 8 bits. Colours missing in the file are black.
    private var palette: [UInt8] = []
    /// The bits of red, green, blue and alpha in a pixel; only for 16 and 32 bits.
    private var masks: [ChannelMask] = []

    var layout: PixelLayout { masks.count == 4 ? .rgba : .rgb }

    init(_ bytes: [UInt8]) throws {
        func number(at offset: Int, bytes length: Int) throws -> Int {
            guard let number = bytes[...].littleEndianNumber(at: offset, bytes: length) else {
                throw Self.damaged("its header is cut off")
            }
            return number
        }
        func signed(at offset: Int) throws -> Int { Int(Int32(truncatingIfNeeded: try number(at: offset, bytes: 4))) }
        let headerSize = try number(at: 14, bytes: 4)
        let isCore = headerSize == 12
        let width = isCore ? try number(at: 18, bytes: 2) : try signed(at: 18)
        let height = isCore ? try number(at: 20, bytes: 2) : try signed(at: 22)
        bits = try number(at: isCore ? 24 : 28, bytes: 2)
        // An OS/2 header may end before the compression field.
        let compression = headerSize >= 40 ? try number(at: 30, bytes: 4) : 0
        let used = headerSize >= 40 ? try number(at: 46, bytes: 4) : 0
        size = PixelSize(width: width, height: abs(height))
        isTopDown = height < 0
        isRunLength = compression == 1 && bits == 8 || compression == 2 && bits == 4
        guard width > 0, height != 0 else { throw Self.damaged("it has no pixels") }
        guard [1, 2, 4, 8, 16, 24, 32].contains(bits) else {
            throw bits == 64 ? Self.unsupported("64 bits a pixel") : Self.damaged("it has \(bits) bits a pixel")
        }
        let hasMasks = [3, 6].contains(compression) && bits >= 16 && bits != 24 && headerSize != 64
        if compression == 4 || compression == 5 {
            throw Self.unsupported("a \(compression == 4 ? "JPEG" : "PNG") inside")
        }
        guard compression == 0 || isRunLength || hasMasks else {
            throw Self.damaged("its compression \(compression) is not known")
        }
        var start = try number(at: 10, bytes: 4)
        if bits <= 8 {
            let after = 14 + headerSize
            let count = used == 0 ? 1 << bits : min(used, 1 << bits)
            let stride = isCore ? 3 : 4
            // If the pixels supposedly begin where the colours are, they have to follow the colours.
            if start <= after { start = after + count * stride }
            palette = [UInt8](repeating: 0, count: 3 * 256)
            for index in 0..<count {
                let entry = after + index * stride
                guard entry + 3 <= min(bytes.count, max(start, after)) else { break }
                for channel in 0..<3 { palette[3 * index + channel] = bytes[entry + 2 - channel] }
            }
        } else if hasMasks {
            // A plain header is followed by its masks; longer ones hold them.
            let alpha = compression == 6 || headerSize >= 56 ? try number(at: 66, bytes: 4) : 0
            masks = try [54, 58, 62].map { ChannelMask(try number(at: $0, bytes: 4)) }
            if alpha != 0 { masks.append(ChannelMask(alpha)) }
        } else if bits == 16 {
            masks = [0x7c00, 0x3e0, 0x1f].map { ChannelMask($0) }
        } else if bits == 32 {
            // The fourth byte is reserved and rarely holds alpha.
            masks = [0xff0000, 0xff00, 0xff].map { ChannelMask($0) }
        }
        self.start = start
        profile = headerSize == 124 ? Self.profile(bytes) : []
    }

    /// Returns the stored bytes of a row.
    func packedRow(_ index: Int, of bytes: [UInt8], allowTruncated: Bool) throws -> ArraySlice<UInt8> {
        let length = (size.width * bits + 7) / 8
        let offset = start + index * ((size.width * bits + 31) / 32 * 4)
        if offset + length <= bytes.count { return bytes[offset..<offset + length] }
        guard allowTruncated else { throw Self.damaged("it ends too soon") }
        let rest = offset < bytes.count ? Array(bytes[offset...]) : []
        return (rest + [UInt8](repeating: 0, count: length - rest.count))[...]
    }

    /// Expands a stored row to colours.
    func expand(_ packed: ArraySlice<UInt8>, bits: Int, into row: inout [UInt8]) {
        packed.withUnsafeBufferPointer { packed in
            row.withUnsafeMutableBufferPointer { row in
                switch bits {
                case 1, 2, 4, 8:
                    let (perByte, mask) = (8 / bits, (1 << bits) - 1)
                    for x in 0..<size.width {
                        let shift = 8 - bits - x % perByte * bits
                        let index = Int(packed[x / perByte]) >> shift & mask
                        for channel in 0..<3 { row[3 * x + channel] = palette[3 * index + channel] }
                    }
                case 24:
                    for x in 0..<size.width {
                        for channel in 0..<3 { row[3 * x + channel] = packed[3 * x + 2 - channel] }
                    }
                default:
                    for x in 0..<size.width {
                        var value = 0
                        for byte in 0..<bits / 8 { value |= Int(packed[x * bits / 8 + byte]) << (8 * byte) }
                        for channel in masks.indices {
                            row[x * masks.count + channel] = masks[channel].level(in: value)
                        }
                    }
                }
            }
        }
    }

    /// Returns the profile that the longest header may refer to, by an offset from the start of that header and a
    /// length.
    private static func profile(_ bytes: [UInt8]) -> [UInt8] {
        let embedded = 0x4d42_4544
        guard bytes[...].littleEndianNumber(at: 70, bytes: 4) == embedded,
            let offset = bytes[...].littleEndianNumber(at: 126, bytes: 4),
            let length = bytes[...].littleEndianNumber(at: 130, bytes: 4)
        else { return [] }
        return bytes[...].slice(at: 14 + offset, count: length).map { Array($0) } ?? []
    }

    private static func unsupported(_ what: String) -> LoadError {
        LoadError(
            .unsupportedType, subject: "",
            "The image/bmp file has \(what), which is not supported; save it with 24 or 32 bits a pixel, or as a PNG.")
    }

    static func damaged(_ reason: String) -> LoadError {
        LoadError(.undecodable, subject: "", "The image/bmp file is damaged or cut off (\(reason)); get a new copy.")
    }
}
#endif
