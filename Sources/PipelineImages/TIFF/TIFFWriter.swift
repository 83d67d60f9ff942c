import Pipeline

/// Puts a TIFF file together: its strips as they come, then the directory that tells where they are (TIFF 6.0).
struct TIFFWriter {
    /// Begins with where the directory is, which isn't known yet.
    private var bytes: [UInt8] = [0x49, 0x49, 42, 0, 0, 0, 0, 0]
    private var offsets: [Int] = []
    private var lengths: [Int] = []

    /// Begins a file of at most about that many bytes: an array that grows is copied each time.
    init(capacity: Int) { bytes.reserveCapacity(capacity) }

    /// Begins the next strip.
    mutating func beginStrip() {
        offsets.append(bytes.count)
        lengths.append(0)
    }

    /// Writes more of the strip.
    mutating func write(_ packed: UnsafeBufferPointer<UInt8>) {
        bytes += packed
        lengths[lengths.count - 1] += packed.count
    }

    /// The file.
    /// - Parameter entries: all but those that tell where the strips are.
    /// - Throws: `LoadError.Code.unencodable` if it is larger than its own numbers.
    mutating func finish(_ entries: [TIFFEntry]) throws(LoadError) -> [UInt8] {
        let entries = (entries + [.long(273, offsets), .long(279, lengths)]).sorted { $0.tag < $1.tag }
        bytes += [UInt8](repeating: 0, count: bytes.count % 2)
        let start = bytes.count
        bytes += entries.count.littleEndian(2)
        var values: [UInt8] = []
        let valuesStart = start + 2 + 12 * entries.count + 4
        for entry in entries {
            bytes += entry.tag.littleEndian(2) + entry.type.littleEndian(2) + entry.count.littleEndian(4)
            if entry.bytes.count <= 4 {
                bytes += entry.bytes + [UInt8](repeating: 0, count: 4 - entry.bytes.count)
            } else {
                bytes += (valuesStart + values.count).littleEndian(4)
                values += entry.bytes + [UInt8](repeating: 0, count: entry.bytes.count % 2)
            }
        }
        bytes += 0.littleEndian(4)
        bytes += values
        guard bytes.count <= Int(UInt32.max) else {
            throw LoadError(
                .unencodable, subject: "", "The picture can't be written as image/tiff, which has at most 4 GB.")
        }
        bytes.replaceSubrange(4..<8, with: start.littleEndian(4))
        return bytes.trimmed
    }
}
