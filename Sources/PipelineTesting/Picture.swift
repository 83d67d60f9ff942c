public import Pipeline

/// Makes image files of a given size and colour without any library.
public enum Picture {
    /// Makes a PNG file of one colour (RFC 2083), uncompressed.
    /// - Parameters:
    ///   - size: The image's size in pixels.
    ///   - pixel: One byte for each channel: grey; red, green, blue; or red, green, blue, alpha. Any other number of
    ///     bytes makes a grey image of the first byte, or a black one.
    public static func png(_ size: PixelSize, with pixel: [UInt8] = [128, 128, 128]) -> [UInt8] {
        let image = DecodedImage.filled(size, with: pixel)
        let colorType: UInt8 =
            switch image.layout.channelCount {
            case 3: 2
            case 4: 6
            default: 0
            }
        let stride = size.width * image.layout.channelCount
        var rows: [UInt8] = []
        rows.reserveCapacity((stride + 1) * size.height)
        for row in 0..<size.height { rows += [0] + image.frames[0].bytes[row * stride..<(row + 1) * stride] }
        let header = bigEndian(size.width) + bigEndian(size.height) + [8, colorType, 0, 0, 0]
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", header) + chunk("IDAT", stored(rows))
            + chunk("IEND", [])
    }

    /// A zlib stream (RFC 1950) of stored blocks (RFC 1951 section 3.2.4).
    private static func stored(_ bytes: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = [0x78, 0x01]
        var start = 0
        repeat {
            let end = min(bytes.count, start + 65535)
            let count = UInt16(end - start)
            stream += [end == bytes.count ? 1 : 0, UInt8(count & 255), UInt8(count >> 8)]
            stream += [UInt8(~count & 255), UInt8(~count >> 8)]
            stream += bytes[start..<end]
            start = end
        } while start < bytes.count
        var low: UInt32 = 1
        var high: UInt32 = 0
        for byte in bytes {
            low = (low + UInt32(byte)) % 65521
            high = (high + low) % 65521
        }
        return stream + bigEndian(Int(high << 16 | low))
    }

    private static func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
        let named = Array(type.utf8) + content
        return bigEndian(content.count) + named + bigEndian(Int(checksum(named)))
    }

    /// CRC-32, bit by bit: these pictures are small.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var sum = ~UInt32(0)
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? (sum >> 1) ^ 0xEDB8_8320 : sum >> 1 }
        }
        return ~sum
    }

    private static func bigEndian(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}
